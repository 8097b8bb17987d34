import Testing

@Suite("Tokenizer")
struct TokenizerTests {
  @Test(
    "Prose is not code, and interpolated code is",
    arguments: [
      ("a /* b /* c */ d */ e // f", ["a", "e"]),
      ("\"a \\\" b\" c", ["\"a \\\" b\"", "c"]),
      ("\"a\\(b(\")\"))c\"", ["\"a\"", "b", "(", "\")\"", ")", "\"c\""]),
      ("#\"a \"b\" \\(c)\"# d", ["\"a \"b\" \\(c)\"", "d"]),
      ("#\"a\\#(b)\"#", ["\"a\"", "b", "\"\""]),
      ("\"\"\"\n a \"b\" \\(c)\n\"\"\"", ["\"\n a \"b\" \"", "c", "\"\n\""]),
      ("let a = /b\"c/; d", ["let", "a", "=", "/b\"c/", ";", "d"]),
      ("#/a\"/# b", ["#/a\"/#", "b"]),
      ("a / b / c", ["a", "/", "b", "/", "c"]),
      ("`if a`!", ["`if a`", "!"]),
      ("\"a\nb", ["\"a\"", "b"]),
      ("\"\" /*", ["\"\""]),
    ]
  )
  func tokens(source: String, texts: [String]) {
    #expect(Tokenizer.texts(of: source) == texts)
  }

  @Test("Tokens and comments know their lines")
  func lines() {
    let tokenizer = Tokenizer("a\n\"\"\"\nb\n\"\"\" // c\n/* d\ne */ f")

    #expect(tokenizer.tokens.map(\.line) == [1, 2, 6])
    #expect(tokenizer.comments.map(\.line) == [4, 5, 6])
    #expect(tokenizer.comments.map(\.text) == ["// c", "/* d", "e */"])
  }

  @Test("A token is glued when no space is before it")
  func glued() {
    let tokens = Tokenizer("a! b !c \"d\"!").tokens

    #expect(tokens.filter { $0.text == "!" }.map(\.isGlued) == [true, false, true])
  }
}
