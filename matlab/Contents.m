% mfma: what GPU matrix units compute, bit for bit
% Version 1.0.0 (R2018a, Octave 7) 29-Nov-2026
%
% AMD matrix cores
%   MI100MC          - CDNA 1: Instinct MI100
%   MI210MC          - CDNA 2: Instinct MI210
%   MI250MC          - CDNA 2: Instinct MI250, MI250X
%   MI300MC          - CDNA 3: Instinct MI300 series
%   MI300AMC         - CDNA 3: Instinct MI300A
%   MI300XMC         - CDNA 3: Instinct MI300X
%
% NVIDIA tensor cores
%   V100TC           - Volta: V100
%   A100TC           - Ampere: A100
%   A2TC             - Ampere: A2
%   A30TC            - Ampere: A30
%   AdaTC            - Ada Lovelace: RTX 1000 Ada
%   L40STC           - Ada Lovelace: L40S
%   H100TC           - Hopper: H100
%   H200TC           - Hopper: H200
%   B200TC           - Blackwell: B200
%   B200TCRN         - Blackwell, were it to round to nearest
%   RTXPRO6000TC     - RTX Blackwell: RTX PRO 6000
%
% Units of the user's own
%   CustomTC         - Any combination of features
%   tools/GEMM       - The same under the original toolbox's name
%   tools/Generic_BFMA_TC - One block of a unit
%
% The general functions
%   mfma_gemm        - Matrix product by any unit, instruction or features
%   mfma_dot         - Many dot products at once, of numbers or of encodings
%   mfma_round       - Round numbers to a format
%   mfma_decode      - Numbers that encodings stand for
%   mfma_sample      - Random inputs, drawn to show what a unit does
%   mfma_validate    - Compare a unit with a function, a model or a dump on random inputs
%   mfma_probe       - Find the features of a unit from its answers alone
%   mfma_explain     - A dot product step by step, and why two units differ
%   mfma_info        - What is known about each unit, and how well
%   mfma_version     - Version, and the papers to cite
%   mfma_threads     - Number of threads
%   mfma_compat      - Behave beside CPFloat as the original toolbox does
%   mfma_build       - Compile the part that MATLAB and Octave call
%
% extras/cpfloat     - Stands in for CPFloat where that is missing; put extras on the path to use it
