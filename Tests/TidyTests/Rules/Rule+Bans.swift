extension Rule {
  /// Rules about what needs a reason.
  static let reasons = ["@unchecked Sendable", "nonisolated(unsafe)", "@preconcurrency"].map(reason)

  /// Rules about what is not written at all.
  static let bans = [
    ban(
      "Sources do not crash on the world",
      in: "Sources",
      ["try!", "as!", "fatalError("],
      good: [["Sources/A/A.swift": "let a = try? b as? C; fatalErrors()"]]
    ),
    forceUnwrap,
    unfinished,
    ban(
      "The core reads no clock",
      in: "Sources/CloudSyncCore",
      except: ["Sources/CloudSyncCore/Environment"],
      [
        "Date()", "Date.now", "Date.init()", "Date(timeIntervalSinceNow:", "timeIntervalSinceNow",
        "ContinuousClock", "SuspendingClock", "Task.sleep", "DispatchTime.now",
        "DispatchWallTime.now", "clock_gettime", "gettimeofday", "systemUptime",
      ],
      good: [["Sources/CloudSyncCore/A.swift": "Date(timeIntervalSince1970: 1); MyDate()"]]
    ),
    ban(
      "The core draws no random number",
      in: "Sources/CloudSyncCore",
      except: ["Sources/CloudSyncCore/Environment"],
      [
        "UUID()", "UUID.init()", "SystemRandomNumberGenerator", ".random(", "randomElement()",
        "shuffled()", "shuffle()", "arc4random",
      ],
      good: [
        ["Sources/CloudSyncCore/A.swift": "UUID(uuid: bytes); all.shuffled(using: &generator)"]
      ]
    ),
    // Without optimization a large value that one reader takes from another is used after its frame is freed:
    // the address sanitizer of Swift 6.3 finds it.
    ban(
      "Properties are read by getters, as readers that yield free too early what they yield",
      in: "Sources",
      ["_read {", "yielding borrow {"],
      good: [["Sources/A/A.swift": "get { a }; _modify { yield &a }; my_read { a }"]]
    ),
    ban(
      "Timers know no intervals of Int, which ends at 2.1 seconds of nanoseconds where it has 32 bits",
      in: "Sources",
      [".nanoseconds(Int(", ".microseconds(Int(", ".milliseconds(Int(", ".seconds(Int("],
      good: [["Sources/A/A.swift": "Duration.nanoseconds(Int64(a)); b(nanoseconds: Int(c))"]]
    ),
    ban(
      "Files reach the disk by way of FileSync, as fsync alone does not on Apple's systems",
      in: "Sources",
      except: [
        "Sources/CloudSyncEventLog/Disk", "Sources/CloudSyncLocalCloud/Assets/Disk",
        "Sources/CloudSyncWebServices/Disk",
      ],
      ["fsync(", "fdatasync("],
      good: [["Sources/A/A.swift": "FileSync.synchronize(descriptor: a); my.afsync()"]]
    ),
    ban(
      "Tests know neither sleep nor chance nor the time",
      in: "Tests",
      ["sleep(", "usleep(", "Task.sleep", "UUID()", "Date()", "Date.now", ".random("],
      good: [["Tests/A/A.swift": "Date(timeIntervalSince1970: 1); sleeper(); UUID(uuidString: a)"]]
    ),
  ]

  /// Makes a rule that lets source pass only with a comment beside it that says "because".
  private static func reason(_ pattern: String) -> Rule {
    let texts = Tokenizer.texts(of: pattern)
    return perFile(
      "\(pattern) has its reason beside it",
      bad: [
        ["Sources/A/A.swift": pattern],
        ["Tests/A/A.swift": "// A lock.\n\(pattern)"],
        ["Tests/A/A.swift": "// Because it is locked.\n\n\(pattern)"],
        ["Tests/A/A.swift": "\(pattern); let a = \"because\""],
      ],
      good: [
        ["Sources/A/A.swift": "\(pattern)  // because it is locked"],
        ["Sources/A/A.swift": "/// Safe\n/// because it is locked.\n\(pattern)"],
        ["Sources/A/A.swift": "\(pattern)\n// Because it is locked."],
        ["Sources/A/A.swift": "// \(pattern)\nlet a = \"\(pattern)\""],
      ]
    ) { file in
      file.places(of: texts).filter { !file.givesReason(near: $0.line) }
        .map {
          file.finding($0.line, "\(pattern) without a comment beside it that says because of what")
        }
    }
  }

  /// Makes a rule that refuses pieces of source, whatever the space between their tokens.
  private static func ban(
    _ name: String,
    in folder: String,
    except exempt: [String] = [],
    _ patterns: [String],
    good: [SourceTree]
  ) -> Rule {
    let path = "\(folder)/A/A.swift"
    let prose = patterns.map {
      "// \($0)\n/* \($0) */ let a = #\"\($0)\"# + \"\"\"\n\($0)\n\"\"\"\n"
    }
    let outside = ["Elsewhere"] + exempt
    let texts = patterns.map(Tokenizer.texts)
    return perFile(
      name,
      in: folder,
      except: exempt,
      bad: patterns.flatMap { pattern -> [SourceTree] in
        [
          [path: "let a = x\(pattern.hasPrefix(".") ? "" : " + ")\(pattern)"],
          [path: "\"\\(\(pattern))\""],
        ]
      },
      good: good + [[path: prose.joined()]]
        + outside.map { [$0 + "/A.swift": patterns.joined(separator: "\n")] }
    ) { file in
      zip(patterns, texts)
        .flatMap { pattern, texts in
          file.places(of: texts).map { file.finding($0.line, "\(pattern) is not for this place") }
        }
    }
  }

  private static let forceUnwrap = perFile(
    "Sources do not unwrap by force",
    in: "Sources",
    bad: [
      "a!", "a!.b", "f()!", "a[0]!", "\"\\(a!)\"", "{ 1 }()!", "var a: Int!", "a! = 1", "`a`!",
      "x = a! + b",
    ]
    .map { ["Sources/A/A.swift": $0] },
    good: [
      "!a", "(!a)", "a != b", "a !== b", "a!=b", "a && !b", "\"a!\"", "// a!", "#if !os(Linux)",
      "try!", "a as! B", "let a = /b!/", "f { !$0 }",
    ]
    .map { ["Sources/A/A.swift": $0] }
      + [["Tests/A/A.swift": "a!"]]
  ) { file in
    file.tokens.indices.dropFirst().filter { isForceUnwrap(file.tokens, at: $0) }
      .map { file.finding(file.tokens[$0].line, "a value is unwrapped by force") }
  }

  private static func isForceUnwrap(_ tokens: [Token], at index: Int) -> Bool {
    let before = tokens[index - 1]
    guard tokens[index].text == "!", tokens[index].isGlued,
      before.isWord || before.isString || [")", "]", "}", ">"].contains(before.text)
    else { return false }
    let after = tokens.dropFirst(index + 1).first
    let isComparison = after.map { $0.isGlued && $0.text == "=" } ?? false
    return !isComparison && !["try", "as"].contains(before.text)
  }

  private static let unfinished = perFile(
    "Sources are finished",
    in: "Sources",
    bad: [
      ["Sources/A/A.swift": "// TODO: the rest"], ["Sources/A/A.swift": "/* a\n FIXME */"],
      ["Sources/A/A.swift": "/// XXX"], ["Sources/A/A.swift": "trap(\"Unimplemented\")"],
      ["Sources/A/A.swift": "unimplemented()"],
    ],
    good: [
      ["Sources/A/A.swift": "// To do so, see XXXL.\nlet aTODO = \"x\""],
      ["Tests/A/A.swift": "// TODO: one more"],
    ]
  ) { file in
    let comments = file.comments.filter { isUnfinished($0.text) }.map(\.line)
    let tokens = file.texts.filter(isUnfinished).flatMap { file.places(of: [$0]).map(\.line) }
    return (comments + tokens.sorted()).map { file.finding($0, "this is not finished") }
  }

  private static func isUnfinished(_ text: String) -> Bool {
    // Words are told apart only where one of them may begin: there are megabytes of text.
    var (last, isSuspect): (UInt32, Bool) = (0, false)
    for byte in text.utf8 {
      // The last four letters, as capitals: "TODO", "FIXM", "UNIM", and three of "XXX".
      last = last << 8 | UInt32(byte & ~0x20)
      isSuspect = isSuspect || last == 0x544f_444f || last == 0x4649_584d || last == 0x554e_494d
      isSuspect = isSuspect || last & 0xff_ffff == 0x58_5858
    }
    if !isSuspect { return false }
    return text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
      .contains { ["TODO", "FIXME", "XXX"].contains($0) || $0.lowercased() == "unimplemented" }
  }
}
