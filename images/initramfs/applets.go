package initramfs

import "strings"

// commands are the applets of Debian's busybox-static (1.35 and later have all of
// them) and the directories that Debian has them in. They are listed here, and not
// asked from the program, so that the archive of any architecture can be made on
// any host.
var commands = []struct{ dir, names string }{
	{"bin", `
		arch ash base64 cat chgrp chmod chown cp cpio cttyhack date dd df dmesg dnsdomainname dumpkmap
		echo ed egrep false fatattr fgrep getopt grep gunzip gzip hostname ionice ipcalc kill link
		linux32 linux64 ln login ls lzop mkdir mknod mktemp more mount mt mv netstat nuke pidof ping
		ping6 ps pwd readlink resume rev rm rmdir rpm run-parts sed setpriv sh sleep stat stty su sync
		tar touch true umount uname uncompress usleep vi watch zcat
	`},
	{"sbin", `
		acpid adjtimex arp blockdev depmod devmem fdisk findfs freeramdisk fstrim getty halt hwclock
		ifconfig ifdown ifup init insmod ip ipneigh klogd loadkmap logread losetup lsmod mdev mkdosfs
		mke2fs mkswap modinfo modprobe nameif pivot_root poweroff reboot rmmod route run-init
		start-stop-daemon sulogin swapoff swapon switch_root sysctl syslogd tc tunctl udhcpc uevent
		vconfig watchdog
	`},
	{"usr/bin", `
		[ [[ ar ascii awk basename bc blkdiscard bunzip2 bzcat bzip2 cal chvt clear cmp crc32 crontab
		cut dc deallocvt diff dirname dos2unix dpkg dpkg-deb du dumpleases env expand expr factor
		fallocate find fold free ftpget ftpput groups head hexdump hostid id killall last less logger
		logname lsscsi lzcat lzma md5sum microcom mkfifo mkpasswd nc nl nproc nsenter nslookup od
		openvt passwd paste patch printf realpath renice reset rpm2cpio seq setkeycodes setsid sha1sum
		sha256sum sha3sum sha512sum shred shuf sort ssl_client strings svc svok tac tail taskset tee
		telnet test tftp time timeout top tr traceroute traceroute6 truncate ts tty unexpand uniq
		unix2dos unlink unlzma unshare unxz unzip uptime uudecode uuencode w wc wget which who whoami
		xargs xxd xz xzcat yes
	`},
	{"usr/sbin", `
		arping brctl chroot crond fsfreeze httpd i2cdetect i2cdump i2cget i2cset i2ctransfer loadfont
		mim nologin partprobe rdate telnetd ubirename udhcpd
	`},
}

// applets returns the paths that become links to busybox.
func applets() []string {
	var paths []string
	for _, c := range commands {
		for name := range strings.FieldsSeq(c.names) {
			paths = append(paths, c.dir+"/"+name)
		}
	}
	return paths
}
