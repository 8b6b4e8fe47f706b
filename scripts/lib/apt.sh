# Installs Debian packages with apt. Source this file after root.sh.
# shellcheck shell=bash

apt_updated=

# apt_install PACKAGE… -> installs the packages that are missing. The first call in a script refreshes the package list.
apt_install() {
  local missing=() package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  say "apt: installing ${missing[*]}"
  ask_for_root apt-get install "${missing[@]}"
  if [[ ! $apt_updated ]]; then
    as_root apt-get update -qq
    apt_updated=yes
  fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}"
}
