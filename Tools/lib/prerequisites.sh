# Shared by the project's scripts: says what happens, and installs what a build needs.
# It always holds: a script that can't go on ends in one line that says why and what to do.
# Written for bash 3.2 and up, which is what macOS has.

# step TEXT: announces the next thing that is done.
step() {
  printf '==> %s\n' "$*"
}

# stop TEXT: ends the script with one line.
stop() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# use_utf8_locale: makes every tool and test see UTF-8, whatever the caller's locale.
use_utf8_locale() {
  case "$(uname -s)" in
    Darwin) export LC_ALL=en_US.UTF-8 ;;
    *) export LC_ALL=C.UTF-8 ;;
  esac
}

# need_toolchain: Swift 6.2 or later is on the PATH and starts.
need_toolchain() {
  local advice="install Swift 6.2 or later from swift.org (or with swiftly) and put it on the PATH"
  command -v swift >/dev/null 2>&1 || stop "no Swift toolchain found; $advice"
  local described version major minor
  described=$(swift --version 2>&1) || stop "the Swift toolchain doesn't start; $advice"
  version=$(printf '%s\n' "$described" |
    sed -n 's/.*Swift version \([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' | head -n 1)
  [ -n "$version" ] || stop "the version of the Swift toolchain can't be told; $advice"
  major=${version%%.*}
  minor=${version#*.}
  if [ "$major" -lt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -lt 2 ]; }; then
    stop "Swift $version is too old; $advice"
  fi
  step "Swift $version"
}

# need_packages [COMMAND...]: the C libraries, what links them, and the commands named.
need_packages() {
  local system
  system=$(uname -s)
  if [ "$system" = Darwin ]; then
    find_missing brew "$@"
    [ -z "$missing" ] || install_with_homebrew $missing
  elif command -v apt-get >/dev/null 2>&1; then
    find_missing apt "$@"
    [ -z "$missing" ] || install_with_apt $missing
  else
    find_missing apt "$@"
    [ -z "$missing" ] ||
      stop "missing, by their Debian names: $missing; install this system's equivalents"
  fi
  step "all packages are there"
}

# find_missing apt|brew [COMMAND...]: sets `missing` to the names of the packages to install.
find_missing() {
  local manager=$1 command library
  shift
  missing=""
  if [ "$manager" = apt ] && ! has_c_toolchain; then
    missing="$missing g++"
  fi
  command -v pkg-config >/dev/null 2>&1 || missing="$missing $(package_name "$manager" pkg-config)"
  for library in lmdb libxxhash libzstd; do
    pkg-config --exists "$library" 2>/dev/null ||
      missing="$missing $(package_name "$manager" "$library")"
  done
  for command in "$@"; do
    command -v "$command" >/dev/null 2>&1 || missing="$missing $command"
  done
  missing=${missing# }
}

# has_c_toolchain: the C library's headers and the start files that Swift links with.
has_c_toolchain() {
  [ -e /usr/include/stdio.h ] || return 1
  local file
  for file in /usr/lib/gcc/*/*/crtbegin.o; do
    [ -e "$file" ] && return 0
  done
  return 1
}

# package_name apt|brew NAME: what the package manager calls what pkg-config calls NAME.
package_name() {
  case "$1:$2" in
    apt:pkg-config) echo pkg-config ;;
    apt:lmdb) echo liblmdb-dev ;;
    apt:libxxhash) echo libxxhash-dev ;;
    apt:libzstd) echo libzstd-dev ;;
    brew:pkg-config) echo pkgconf ;;
    brew:lmdb) echo lmdb ;;
    brew:libxxhash) echo xxhash ;;
    brew:libzstd) echo zstd ;;
  esac
}

# install_with_apt PACKAGE...: as root, or through sudo.
install_with_apt() {
  local as_root="" log
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 ||
      stop "missing: $*, and this is neither root nor is there sudo; have root run: apt-get install $*"
    as_root=sudo
    # Without a terminal nobody can type a password.
    [ -t 0 ] || as_root="sudo -n"
    $as_root true 2>/dev/null ||
      stop "missing: $*, and sudo doesn't let this user; have root run: apt-get install $*"
  fi
  log=$(mktemp) || stop "no temporary file can be made"
  step "apt-get update"
  # One mirror of many may fail; whether the packages can be had is for the install to say.
  $as_root apt-get -o DPkg::Lock::Timeout=120 update >"$log" 2>&1 || true
  step "apt-get install $*"
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 \
    install --yes --no-install-recommends "$@" >>"$log" 2>&1 </dev/null || {
    if grep -Eq 'Could not resolve|Temporary failure|Could not connect|Failed to fetch' "$log"; then
      stop "can't install $*: the package mirror is out of reach (no network?); apt's words: $log"
    fi
    stop "can't install $*; apt's words: $log"
  }
  rm -f "$log"
}

# install_with_homebrew PACKAGE...: written with care, never run.
install_with_homebrew() {
  command -v brew >/dev/null 2>&1 ||
    stop "missing: $*, and there is no Homebrew; install Homebrew, then run: brew install $*"
  step "brew install $*"
  brew install --quiet "$@" || stop "can't install $*; see Homebrew's words above"
}
