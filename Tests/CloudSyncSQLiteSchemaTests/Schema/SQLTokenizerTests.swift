import Testing

@testable import CloudSyncSQLiteSchema

@Suite("SQLTokenizer")
struct SQLTokenizerTests {
  @Test(
    "Every kind of token ends where SQLite says",
    arguments: [
      ("a$1é", SQLToken.Kind.word), ("\"a\"\"b\"", .quotedName), ("[a\"]", .quotedName),
      ("`a``b`", .quotedName), ("'it''s'", .string), ("x'00ff'", .blob), ("1.5e-3", .number),
      (".5", .number), ("0x1e", .number), ("1e+5", .number), (":name", .variable), ("->>", .symbol),
      ("||", .symbol), ("<>", .symbol), (",", .symbol), ("-- to the end", .comment),
      ("/* never ends", .comment), ("/**/", .comment), (" \t\n", .space), ("'open", .invalid),
      ("[open", .invalid), ("\\", .invalid), ("?12", .variable), ("X''", .blob),
    ]
  )
  func singles(text: String, kind: SQLToken.Kind) {
    let tokens = SQLText(text).tokens

    #expect(tokens == [SQLToken(kind: kind, range: 0..<text.utf8.count)])
  }

  @Test("Tokens cover every byte of any text, in order")
  func covers() {
    let alphabet = Array("ab'\"`[]-/*().,;x09e+ \n=<>|é".utf8)
    var seed: UInt64 = 1
    for _ in 0..<2_000 {
      let bytes = (0..<24)
        .map { _ in
          seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          return alphabet[Int(seed >> 33) % alphabet.count]
        }
      let tokens = SQLTokenizer.tokens(of: bytes)
      #expect(tokens.first?.range.lowerBound == 0)
      #expect(tokens.last?.range.upperBound == bytes.count)
      #expect(
        zip(tokens, tokens.dropFirst()).allSatisfy { $0.range.upperBound == $1.range.lowerBound }
      )
    }
  }

  @Test("A number ends before an operator")
  func operators() {
    let text = SQLText("0x1e+5-6,a-b")

    #expect(
      text.tokens.map { text.text($0.range) } == ["0x1e", "+", "5", "-", "6", ",", "a", "-", "b"]
    )
  }

  @Test("Names lose their quotes")
  func names() {
    let text = SQLText("\"a\"\"\"\"b\"[c\"\"]`d``e`'f''g'h")

    #expect(text.tokens.map { text.name(of: $0) } == ["a\"\"b", "c\"\"", "d`e", "f'g", "h"])
  }

  @Test("A call is a name before a parenthesis, with a comment between or not")
  func calls() {
    #expect(SQLText("1 + \"UUID\" /* now */ ()").calls("uuid"))
    #expect(!SQLText("'uuid' || uuid, (1) -- uuid()").calls("uuid"))
  }

  @Test("A declaration is read with all its rules, in either form")
  func declaration() throws {
    let declaration = try #require(
      TableDeclaration(
        """
        CREATE TABLE IF NOT EXISTS main."t" (
          a INT(10, 2) CONSTRAINT pk PRIMARY KEY ASC ON CONFLICT FAIL AUTOINCREMENT NOT NULL,
          'b' "NOT" VARYING DEFAULT -1 NULL COLLATE nocase REFERENCES u(x) ON DELETE SET DEFAULT
            ON UPDATE NO ACTION MATCH full NOT DEFERRABLE INITIALLY DEFERRED UNIQUE,
          c DEFAULT current_time CHECK (c IN (1, 2)), d AS (a) STORED, e GENERATED ALWAYS AS (a),
          PRIMARY KEY (a COLLATE x, [b] DESC) UNIQUE (b, lower(c)) ON CONFLICT REPLACE,
          CONSTRAINT f FOREIGN KEY (a, b) REFERENCES v DEFERRABLE
        )
        """
      )
    )

    #expect(declaration.name(declaration.nameToken) == "t")
    #expect(declaration.columns.map(\.name) == ["a", "b", "c", "d", "e"])
    #expect(
      declaration.columns.map { declaration.text.text(declaration.range($0.type)) } == [
        "INT(10, 2)", "\"NOT\" VARYING", "", "", "",
      ]
    )
    #expect(
      declaration.columns.map { $0.constraints.map(\.kind) } == [
        [.primaryKey, .notNull], [.defaultValue, .null, .collation, .foreignKey, .unique],
        [.defaultValue, .check], [.generated], [.generated],
      ]
    )
    #expect(declaration.columns[0].constraint(.primaryKey)?.isAutoincrement == true)
    #expect(declaration.constraints.map(\.kind) == [.primaryKey, .unique, .foreignKey])
    #expect(
      declaration.constraints.map { $0.columns.map(declaration.name) } == [
        ["a", "b"], ["b"], ["a", "b"],
      ]
    )
    #expect(declaration.constraints[2].table.map(declaration.name) == "v")
  }

  @Test(
    "What SQLite refuses is no declaration",
    arguments: [
      "", "CREATE VIEW v AS SELECT 1", "CREATE TABLE t (a", "CREATE TABLE t (a, )",
      "CREATE TABLE (a)",
    ]
  )
  func refused(sql: String) {
    #expect(TableDeclaration(sql) == nil)
  }
}
