#!/usr/bin/env bash
# Type-checks the package for an Apple target on Linux, availability and SIL diagnostics included.
#
#   .ci/apple/check.sh [TRIPLE...]      for example x86_64-apple-tvos16.0-simulator
#
# How: the Linux toolchain has the standard library as .swiftinterface files, which carry Apple's
# @available; they are compiled for the Apple triple (for a watch of 32 bits by way of narrow.py).
# Darwin, Dispatch, Foundation, Combine, os and SQLite3 are stubs of the project's own, in the folder
# beside this script, and so are CloudKit and CoreLocation, in Tests/CloudKitStub: they declare what the package uses, as Apple's SDK declares it. A call that a
# stub lacks is an error here: add it, with the availability that Apple's documentation gives.
#
# What this does not do: compile Objective-C interoperability, link, or run. A Mac does that
# (.github/workflows/apple.yml).
set -euo pipefail

# The systems of the manifest, each at the oldest version that it names. The watch is one of 32
# bits: its Int is narrow, and constants that do not fit are errors. visionOS is iOS here.
readonly all_triples=(
  x86_64-apple-macosx13.0
  x86_64-apple-ios16.0-simulator
  x86_64-apple-tvos16.0-simulator
  i386-apple-watchos9.0-simulator
)
readonly language=(-swift-version 6 -package-name package)

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
package=$(cd "$here/../.." && pwd)
readonly here package
readonly scratch=${APPLE_CHECK_SCRATCH:-$package/.build-ci/apple}
toolchain=$(dirname "$(readlink -f "$(command -v swiftc)")")/..
readonly library=$toolchain/lib/swift

die() {
  echo "error: $*" >&2
  exit 1
}

# Sets what belongs to a triple: its folder, the name of its modules, and the compiler's flags.
select_triple() {
  triple=$1
  work=$scratch/$triple
  local processor=${triple%%-*} stub_flags=()
  case $triple in
    *macosx*) architecture=$processor-apple-macos ;;
    *ios*) architecture=$processor-apple-ios-simulator ;;
    *tvos*) architecture=$processor-apple-tvos-simulator ;;
    *watchos*) architecture=$processor-apple-watchos-simulator ;;
    *xros*) architecture=$processor-apple-xros-simulator ;;
    *) die "no Apple triple: $triple" ;;
  esac
  case $triple in
    *tvos* | *watchos*) stub_flags=(-Xcc -DSTUB_TVOS_WATCHOS) ;;
  esac
  mkdir -p "$work"/{modules,interfaces,resources,own}
  local part include=$work/root/usr/include
  for part in shims clang apinotes; do ln -sfn "$library/$part" "$work/resources/$part"; done
  mkdir -p "$include"
  cp -r "$here/stubs/include/." "$include"
  cp /usr/include/sqlite3.h "$include/SQLite3/"
  flags=(
    -target "$triple" -disable-objc-interop -resource-dir "$work/resources" -sdk "$work/root"
    -I "$work/modules" -module-cache-path "$work/cache" -plugin-path "$library/host/plugins"
    -Xcc -isystem -Xcc "$include"
    -Xcc "-fmodule-map-file=$include/Darwin/module.modulemap"
    -Xcc "-fmodule-map-file=$include/SQLite3/module.modulemap"
    "${stub_flags[@]}" -suppress-remarks
  )
  # The package's own modules of C, as the package manager shows them.
  local headers name
  for headers in "$package"/Sources/*/include; do
    [[ -d $headers ]] || continue
    name=$(basename "${headers%/include}")
    mkdir -p "$include/$name"
    cp "$headers"/*.h "$include/$name/"
    echo "module $name { umbrella \".\" export * }" >"$include/$name/module.modulemap"
    flags+=(-Xcc "-fmodule-map-file=$include/$name/module.modulemap")
  done
}

# Compiles a module of the toolchain from its interface, unless that was done before.
toolchain_module() {
  local name=$1 parsing=() platform
  local source=$library/linux/$name.swiftmodule/x86_64-unknown-linux-gnu.swiftinterface
  local interface=$work/interfaces/$name.swiftinterface
  local module=$work/modules/$name.swiftmodule/$architecture.swiftmodule
  if [[ $module -nt $source && $module -nt $here/check.sh && $module -nt $here/narrow.py ]]; then
    return
  fi
  mkdir -p "${module%/*}"
  platform=$(sed -E -e "s/-target x86_64-unknown-linux-gnu/-target $triple/" \
    -e 's/-module-link-name [A-Za-z_]*//; s/@backDeployed\(before:[^)]*\)//' \
    -e 's/^import Glibc$/import Darwin/' "$source")
  if [[ $triple == i386-* ]]; then platform=$(python3 "$here/narrow.py" <<<"$platform"); fi
  echo "$platform" >"$interface"
  if head -5 "$source" | grep -q -- -parse-stdlib; then parsing=(-parse-stdlib); fi
  swift-frontend -compile-module-from-interface "$interface" -module-name "$name" \
    "${parsing[@]}" "${flags[@]}" -disable-availability-checking -o "$module" \
    2>"$work/interfaces/$name.log" ||
    die "$name cannot be compiled for $triple: see $work/interfaces/$name.log"
}

# Compiles a stub, unless that was done before: a file beside this script, or the folder that is named.
stub_module() {
  local name=$1 files=("$here/stubs/$1.swift") underlying=() changed
  local module=$work/modules/$name.swiftmodule/$architecture.swiftmodule
  if [[ $# -gt 1 ]]; then files=("$2"/*.swift); fi
  changed=$(find "$here/stubs" "$here/check.sh" "${files[@]}" -newer "$module" -print -quit 2>&1) || changed=new
  if [[ -z $changed ]]; then return; fi
  if [[ $name == Darwin ]]; then underlying=(-import-underlying-module); fi
  mkdir -p "${module%/*}"
  swift-frontend -emit-module "${flags[@]}" -module-name "$name" -swift-version 5 \
    -parse-as-library "${underlying[@]}" -enable-library-evolution -o "$module" "${files[@]}"
}

# The check must be able to fail, and must see Apple's modules, not Linux's.
check_canaries() {
  local canary
  for canary in "$here"/canaries/*.swift; do
    if [[ $canary == */bad-on-32-bits-* && $triple != i386-* ]]; then continue; fi
    if swift-frontend -emit-sil -Onone "${language[@]}" -module-name Canary "${flags[@]}" \
      -o /dev/null "$canary" 2>"$work/canary.log"
    then
      [[ $canary == */good-* ]] || die "the check cannot fail: ${canary##*/} compiles for $triple"
    elif [[ $canary == */good-* ]]; then
      cat "$work/canary.log"
      die "${canary##*/} does not compile for $triple"
    fi
  done
}

# Compiles a module of the package down to SIL; prints what is wrong with it.
check_module() {
  local name=$1 folder=$2 files log=$work/own/$1.log extra=()
  read -ra extra <<<"$3"
  [[ -e $folder/main.swift ]] || extra+=(-parse-as-library)
  mapfile -d '' files < <(find "$folder" -name '*.swift' -print0)
  if [[ -n $4 ]]; then files+=("$(embedded_resources "$name" "$4")"); fi
  if swift-frontend -emit-sil -Onone -warnings-as-errors "${language[@]}" "${extra[@]}" \
    "${flags[@]}" -I "$work/own" -module-name "$name" \
    -emit-module-path "$work/own/$name.swiftmodule" -o /dev/null "${files[@]}" 2>"$log"
  then
    echo "ok   $name"
  else
    echo "FAIL $name"
    grep -E '(^|: )error: ' "$log" | sort -u || cat "$log"
    return 1
  fi
}

# Writes what the package manager generates for resources that are embedded in code.
embedded_resources() {
  local file=$work/own/$1-resources.swift name names
  read -ra names <<<"$2"
  {
    echo "struct PackageResources {"
    for name in "${names[@]}"; do echo "  static let ${name//[^A-Za-z0-9]/_}: [UInt8] = []"; done
    echo "}"
  } >"$file"
  echo "$file"
}

check_triple() {
  local name folder settings resources status=0 begin=$SECONDS
  select_triple "$1"
  echo "--- $triple"
  for name in Swift SwiftOnoneSupport _Builtin_float _Concurrency _RegexParser _StringProcessing; do
    toolchain_module "$name"
  done
  stub_module Darwin
  toolchain_module Observation
  for name in Dispatch os Combine Foundation; do stub_module "$name"; done
  # The stub that the handler for CloudKit is tested with on Linux.
  for name in CoreLocation CloudKit; do
    stub_module "$name" "$package/Tests/CloudKitStub/Sources/$name"
  done
  check_canaries
  rm -f "$work/own"/*
  while IFS='|' read -r name folder settings resources; do
    check_module "$name" "$package/$folder" "$settings" "$resources" || status=1
  done <<<"$modules"
  # What an app writes that imports Combine and Foundation too.
  check_module Client "$here/client" "" "" || status=1
  echo "    $((SECONDS - begin)) s"
  return "$status"
}

main() {
  local chosen=("$@") one failed=()
  if [[ $# -eq 0 ]]; then chosen=("${all_triples[@]}"); fi
  [[ -e /usr/include/sqlite3.h ]] || die "sqlite3.h is missing: install libsqlite3-dev"
  # With a folder of its own: a build in the package's would have to end first.
  modules=$(swift package --package-path "$package" --scratch-path "$scratch/manifest" dump-package |
    python3 "$here/modules.py" "$package")
  [[ -n $modules ]] || die "the manifest has no modules"
  # As many at a time as there are cores; what each has found is printed whole, in the order of the triples.
  trap 'kill $(jobs -rp) 2>/dev/null || true' EXIT
  rm -rf "$scratch/logs"
  mkdir -p "$scratch/logs"
  for one in "${chosen[@]}"; do
    while [[ $(jobs -rp | wc -l) -ge $(nproc) ]]; do wait -n || true; done
    (check_triple "$one") >"$scratch/logs/$one" 2>&1 && touch "$scratch/logs/$one.passed" &
  done
  wait
  for one in "${chosen[@]}"; do
    cat "$scratch/logs/$one"
    [[ -e $scratch/logs/$one.passed ]] || failed+=("$one")
  done
  [[ ${#failed[@]} -eq 0 ]] || die "does not compile for: ${failed[*]}"
}

main "$@"
