#!/usr/bin/env python3
"""Makes an interface of the standard library that was written for 64 bits one for 32 bits.

`Int` and `UInt` get the bodies of `Int32` and `UInt32`, and what is inlined elsewhere and names the
width of `Int` gets the other width. Only what the type checker and the diagnostics need becomes
right: literals that do not fit, constants that overflow, and C's `long`. Layouts, and code that
would run, do not matter here.
"""
import re
import sys


def span(text, name):
    """Where the declaration of an integer type begins and ends."""
    start = re.search(rf"^@frozen public struct {name} : .*\{{$", text, re.M).start()
    end = text.index("\n}\n", start) + 3
    return start, end


WORD = """
  @_transparent public init(_ _v: Builtin.Word) {
    self._value = Builtin.truncOrBitCast_Word_Int32(_v)
  }
  @_transparent public var _builtinWordValue: Builtin.Word {
    return Builtin.zextOrBitCast_Int32_Word(_value)
  }
}
"""


def renamed(body):
    """The body of Int32 or UInt32 as that of Int or UInt, which are words too."""
    body = re.sub(r"(?<![\w.])(U?Int)32\b", r"\1", body)
    body = re.sub(r"\bSwift\.(U?Int)32\b", r"Swift.\1", body)
    return body[: body.rindex("}\n")] + WORD.lstrip("\n")


def narrow(text):
    if "@frozen public struct Int : " not in text:
        return text
    for name in ("UInt", "Int"):
        start, end = span(text, name + "32")
        body = renamed(text[start:end])
        start, end = span(text, name)
        text = text[:start] + body + text[end:]
    # The mask of a bridged object's bits.
    text = text.replace("    return 0x4000_0000_0000_0000\n", "    return 0x2\n")
    # Vectors: the generic functions do instead of those for vectors of these integers.
    text = re.sub(
        r"^extension Swift\.(SIMD\d+ where Scalar == Swift\.U?Int"
        r"|SIMDMask where Storage == Swift\.SIMD\d+<Swift\.Int>) \{$.*?^\}$\n",
        "",
        text,
        flags=re.M | re.S,
    )
    text = re.sub(
        r"^extension Swift\.U?Int : Swift\.SIMDScalar \{$.*?^\}$",
        lambda match: re.sub(r"(?<=[x_])Int64(?![A-Za-z0-9])", "Int32", match[0]),
        text,
        flags=re.M | re.S,
    )
    # Every integer's lowest word, and what is made of a word's bits.
    text = re.sub(
        r"(UInt\(\s*Builtin\.\w+?_Int\d+_)Int64(\(_value\))", r"\1Int32\2", text
    )
    text = re.sub(r"(Builtin\.\w+_)Int64(_Int\d+\(bits\._value\))", r"\1Int32\2", text)
    text = re.sub(r"[sz]ext(OrBitCast_Int64_Int32)", r"trunc\1", text)
    text = re.sub(r"trunc(OrBitCast_Int32_Int64)", r"zext\1", text)
    # Hashes, numbers as floating-point ones, and a hint of the optimizer's.
    text = re.sub(r"(_combine\(|seed: seed, )UInt(?:64)?\(_value\)", r"\1UInt64(truncatingIfNeeded: self)", text)
    text = re.sub(r"([su]itofp_)Int64(_\w+\((?:v|extended)\._value\))", r"\1Int32\2", text)
    return text.replace(" Int(Builtin.assumeNonNegative_Int64", " Int(Builtin.assumeNonNegative_Int32")


if __name__ == "__main__":
    sys.stdout.write(narrow(sys.stdin.read()))
