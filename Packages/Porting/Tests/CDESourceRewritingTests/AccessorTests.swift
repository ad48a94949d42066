import CDESourceRewriting
import Testing

@Suite("Accessors that key-value coding calls")
struct AccessorTests {
  /// The lines of the rewritten files of a target.
  private func rewritten(_ sources: String...) -> [String] {
    let files = sources.map { SourceRewriter.Parsed(Array($0.utf8)) }
    let rewriter = SourceRewriter(index: SourceIndex(files.map(\.facts)))
    return files.flatMap {
      String(decoding: rewriter.rewrite($0).bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
  }

  @Test("a variable with @objc and accessors of its own is read and set by its key, from extensions too")
  func explicit() {
    let text = rewritten(
      """
      class A: NSManagedObject {
        @NSManaged var plain: String
        @objc var email: String? { get { nil } set {} }
        @objc(theName) var name: String { "" }
        @objc var `default`: Int16 { get { 0 } set {} }
        @objc private var own: Int { 0 }
        @objc private(set) var count = 0
        var swiftOnly: Int { 0 }
        @objc static var shared: Int { 0 }
        #if os(iOS)
          @objc var image: UIImage? { nil }
        #else
          @objc var text: String { "" }
        #endif
      }
      """, "@objc extension A { var label: String { \"\" } }",
      "extension A { @objc private var hidden: Int { 0 } }")[0]
    #expect(
      text.contains(
        "super._cdAccessorKeys.union([\"email\", \"theName\", \"default\", \"own\", \"count\", \"text\", \"label\"])"
      ),
      "\(text)")
    #expect(
      text.contains(
        "switch key { case \"email\": return .some(self.email); case \"theName\": return .some(self.name); "
          + "case \"default\": return .some(self.`default`); "))
    #expect(
      text.contains(
        "switch key { case \"email\": return _cdAssign(value, forKey: key) { self.email = $0 }; "
          + "case \"default\": return _cdAssign(value, forKey: key) { self.`default` = $0 }; "
          + "case \"count\": return _cdAssign(value, forKey: key) { self.count = $0 }; default: "), "\(text)")
  }

  @Test("@objcMembers counts for the class, its extensions and subclasses")
  func members() {
    let lines = rewritten(
      """
      @objcMembers class A: NSManagedObject { var one: Int { 0 }; private var own: Int { 0 }; @nonobjc var no: Int { 0 } }
      class B: A { var two: Int { 0 }; var later: Int { get async { 0 } } }
      class C: NSManagedObject { var no: Int { 0 } }
      """, "extension B { var three: Int { 0 } }")
    #expect(lines[0].contains("union([\"one\"])"), "\(lines)")
    #expect(lines[1].contains("union([\"two\", \"three\"])"), "\(lines)")
    #expect(!lines[2].contains("_cdAccessorKeys"))
  }

  @Test(
    "a variable that overrides one with @NSManaged is called; another override is called by its superclass")
  func overrides() {
    let lines = rewritten(
      """
      class A: NSManagedObject { @NSManaged var stamp: Int; @objc(sum) @NSManaged var total: Int }
      class B: A { override var stamp: Int { get { 0 } set {} }; override var description: String { "" } }
      class C: B { override var stamp: Int { get { 0 } set {} }; @objc var fresh: Int { 0 }; var swift: Int { 0 } }
      class D: C { override var fresh: Int { 0 }; override var swift: Int { 0 } }
      """, "extension D { override var total: Int { get { 0 } set {} } }")
    #expect(lines[1].contains("union([\"stamp\"])"), "\(lines)")
    #expect(lines[2].contains("union([\"stamp\", \"fresh\"])"), "\(lines)")
    #expect(lines[3].contains("union([\"sum\"])"), "\(lines)")
    #expect(lines[3].contains("case \"sum\": return _cdAssign(value, forKey: key) { self.total = $0 }"))
  }

  @Test("a function without parameters that returns a value is read by its name")
  func functions() {
    let lines = rewritten(
      """
      class A: NSManagedObject { @objc func initials() -> String { "" }; func swiftOnly() -> Int { 0 } }
      @objcMembers class B: A {
        override func initials() -> String { "" }
        func nothing() {}; func void() -> Void {}; func with(_ it: Int) -> Int { it }; func failing() throws -> Int { 0 }
        func later() async -> Int { 0 }; func any<T>() -> T? { nil }; class func made() -> Int { 0 }
        func rank() -> Int { 0 }
      }
      """, "extension B { @objc(fullName) func name() -> String { \"\" } }")
    #expect(
      lines[0].contains("switch key { case \"initials\": return .some(self.initials()); default"), "\(lines)")
    #expect(!lines[0].contains("_cdSetComputedValue"))
    #expect(
      lines[1].contains(
        "switch key { case \"rank\": return .some(self.rank()); case \"fullName\": return .some(self.name()); default"
      ),
      "\(lines)")
  }

  @Test(
    "a variable isDone and a function getTitle() are read as done and title, too, unless there is one of that name"
  )
  func otherNames() {
    let line = rewritten(
      """
      class A: NSManagedObject { @NSManaged var open: Bool; @objc var isDone: Bool { true }; @objc var isOpen: Bool { true }; \
      @objc func getTitle() -> String { "" }; @objc var island: String { "" } }
      """)[0]
    #expect(
      line.contains(
        "; case \"done\", \"Done\": return .some(self.isDone); case \"Open\": return .some(self.isOpen); "
          + "case \"title\", \"Title\": return .some(self.getTitle()); default"), "\(line)")
    #expect(line.contains("union([\"isDone\", \"isOpen\", \"getTitle\", \"island\"])"))
  }
}
