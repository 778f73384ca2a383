#!/bin/bash
# Runs a Linux program on an emulated x86-64 machine with AVX-512, for tests on machines that lack it.
#
#   tools/bochs/run.sh PROGRAM [ARGUMENT...]
#
# PROGRAM and its shared libraries become the initial file system of a small Linux that Bochs boots; what the program
# prints comes back, and its exit status is this script's. Variables named MFMA_* and RUST_* are passed on.
# BOCHS_CPU chooses the processor (corei7_skylake_x: AVX-512 F, CD, BW, DQ, VL; corei7_icelake_u: VNNI and more),
# BOCHS_SECONDS the time after which it is given up. Booting takes about a minute, and programs run some hundred times
# slower than natively.
#
# Bochs 2.7 rounds ties of VCVTPS2PH away from zero: units that return binary16 differ there and not on hardware.
#
# Debian packages: bochs bochsbios vgabios bochs-term busybox-static isolinux syslinux-common genisoimage cpio, and a
# kernel in /boot (linux-image-cloud-amd64).
set -euo pipefail

cpu=${BOCHS_CPU:-corei7_skylake_x}
seconds=${BOCHS_SECONDS:-1200}
program=$1
shift

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
iso=$work/iso
mkdir -p "$root"/{bin,proc,dev,tmp} "$iso"

# 1. The initial file system: a shell, the program, the libraries it names.
cp /bin/busybox "$root/bin/"
ln -s busybox "$root/bin/sh"
cp "$program" "$root/bin/program"
{ ldd "$program" 2>/dev/null | grep -o '/[^ ]*' || true; } | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
done
{
    echo '#!/bin/busybox sh'
    echo '/bin/busybox mount -t proc proc /proc'
    echo '/bin/busybox mount -t devtmpfs dev /dev'
    env | grep -E '^(MFMA|RUST)_' | sed "s/'/'\\\\''/g; s/^\([A-Z0-9_]*\)=\(.*\)/export \1='\2'/" || true
    printf '/bin/program'
    [ $# -eq 0 ] || printf ' %q' "$@"
    echo ' >/dev/ttyS0 2>&1'
    echo 'echo "EXIT STATUS $?" >/dev/ttyS0'
    echo '/bin/busybox sleep 3 # The last words must be out.'
    echo '/bin/busybox poweroff -f'
} >"$root/init"
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$iso/initrd.gz"

# 2. A disc that boots it. Bochs reports the size of the compacted state wrongly, so the kernel must not compact it.
kernel=$(find /boot -name 'vmlinuz-*' | sort | tail -n 1)
cp "$kernel" "$iso/vmlinuz"
cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$iso/"
cat >"$iso/isolinux.cfg" <<EOF
DEFAULT linux
PROMPT 0
TIMEOUT 0
LABEL linux
 KERNEL vmlinuz
 APPEND initrd=initrd.gz quiet console=ttyS0,115200 mitigations=off no_timer_check nosmp noxsaves nopku clearcpuid=321 tsc=reliable nokaslr clocksource=tsc
EOF
genisoimage -quiet -o "$work/boot.iso" -b isolinux.bin -c boot.cat \
    -no-emul-boot -boot-load-size 4 -boot-info-table "$iso"

# 3. The machine.
cat >"$work/bochsrc" <<EOF
cpu: model=$cpu, count=1, ips=60000000, reset_on_triple_fault=0
memory: guest=1024, host=1024
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path=$work/boot.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$work/serial
log: $work/log
panic: action=fatal
display_library: term
clock: sync=none
speaker: enabled=0
EOF
printf 'c\nquit\n' >"$work/commands"
TERM=xterm timeout "$seconds" script -qc "bochs -q -f $work/bochsrc -rc $work/commands" /dev/null \
    </dev/null >"$work/screen" 2>&1 || true

# 4. What it said.
touch "$work/serial"
tr -d '\r' <"$work/serial" | sed '/^EXIT STATUS /d; /Firmware Bug/d; /perfctr msr/d; /reboot: Power down/d; /entering sleep state/d; /sleep state S5/d'
status=$(tr -d '\r' <"$work/serial" | sed -n 's/^EXIT STATUS //p')
if [ -z "$status" ]; then
    echo "no answer within $seconds s; the machine's last words:" >&2
    tail -n 5 "$work/log" >&2
    exit 124
fi
exit "$status"
