import CDESourceRewriting
import Foundation
import Testing

@Suite("Rewriting what published sources say")
struct PublishedSourcesTests {
  private func rewritten(
    _ source: String, replacements: [String: String] = [:], isOnMainActor: Bool = false
  ) -> (text: String, messages: [String]) {
    let file = SourceRewriter.Parsed(Array(source.utf8))
    let index = SourceIndex([file.facts], replacements: replacements, isOnMainActor: isOnMainActor)
    let result = SourceRewriter(index: index).rewrite(file)
    return (String(decoding: result.bytes, as: UTF8.self), result.messages.map { $0.printed(file: "F") })
  }

  @Test("a module that the settings replace is replaced in imports, conditions and before points")
  func replacedModule() {
    let source =
      "import Combine\nimport class Combine.Future\n#if canImport(Combine)\nlet a: Combine.AnyCancellable? = nil\n#endif"
    let result = rewritten(source, replacements: ["Combine": "OpenCombine"])
    #expect(
      result.text
        == "import OpenCombine\nimport class OpenCombine.Future\n#if canImport(OpenCombine)\nlet a: OpenCombine.AnyCancellable? = nil\n#endif"
    )
    #expect(result.messages.isEmpty)
    #expect(rewritten(source).messages.count == 2)
  }

  @Test("a test case of the main actor prepares its tests there, through an override without isolation")
  func mainActorTestCase() {
    let source =
      "@MainActor final class T: XCTestCase {\n  override func setUpWithError() throws {\n    x()\n  }\n}"
    let text = rewritten(source).text
    #expect(
      text.contains(
        "  nonisolated override func setUpWithError() throws { nonisolated(unsafe) let me = self; try MainActor.assumeIsolated { "
          + "try me._cdMainActor_T_setUpWithError() } }; @MainActor func _cdMainActor_T_setUpWithError() throws {\n    x()"
      ))
    #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count == 5)
    let plain = "final class T: XCTestCase { override func setUp() {} }"
    #expect(rewritten(plain).text == plain)
    let byDefault = rewritten(plain, isOnMainActor: true).text
    #expect(byDefault.contains("_cdMainActor_T_setUp"))
    #expect(
      byDefault.contains("nonisolated required init(name: String, testClosure: @escaping XCTestCaseClosure)"))
    let test = rewritten("final class T: XCTestCase { @MainActor func testA() throws { x() } }").text
    #expect(
      test.contains(
        "nonisolated func testA() throws { nonisolated(unsafe) let me = self; try MainActor.assumeIsolated { "
          + "try me._cdMainActor_T_testA() } }; @MainActor func _cdMainActor_T_testA() throws { x() }"))
    let asynchronous = "@MainActor final class T: XCTestCase { override func setUp() async throws {} }"
    #expect(rewritten(asynchronous).text == asynchronous)
  }

  @Test("lazy variables stay possible in subclasses of classes that cross isolations")
  func lazyVariables() {
    #expect(
      rewritten("import CoreData\nclass A: NSPersistentContainer { private lazy var x = 1 }").text
        == "import CDECoreData\nclass A: NSPersistentContainer, @unchecked Sendable { private var x: Int "
        + "{ get { _cdKept_x.value } _modify { yield &_cdKept_x.value } }; "
        + "private var _cdKept_x: _CDLazyValue<Int> { if let kept = _cdLazy_x { return kept }; let _cdMade: Int = 1; "
        + "let kept = _CDLazyValue(_cdMade); _cdLazy_x = kept; return kept }; private var _cdLazy_x: _CDLazyValue<Int>? }"
    )
    #expect(!rewritten("class A: NSManagedObject { lazy var x = 1 }").text.contains("_cdLazy"))
    #expect(
      rewritten("class A: NSManagedObject, @unchecked Sendable { lazy var x = 1 }").text.contains(
        "var x: Int {"))
    let written = rewritten(
      """
      class A: NSPersistentContainer {
        #if DEBUG
        lazy var x: NSFetchRequest<A> = {
          y as! NSFetchRequest<A>
        }() // end
        #endif
        public private(set) lazy var e: [NSExpression] = []
        lazy var f = Set<String>()
      }
      """
    ).text
    #expect(
      written.contains(
        "  }(); let kept = _CDLazyValue(_cdMade); _cdLazy_x = kept; return kept }; private var"))
    #expect(written.contains("? // end\n"))
    #expect(written.contains("y ~!> NSFetchRequest<A>.self"))
    #expect(written.contains("public private(set) var e: [CDECoreData.NSExpression] {"))
    #expect(written.contains("_CDLazyValue<[CDECoreData.NSExpression]>?"))
    #expect(written.contains("var f: Set<String> {"))
  }

  @Test(
    "a lazy variable whose type only the compiler knows stays lazy, and so does one with observers or an isolation"
  )
  func lazyVariablesThatStay() {
    #expect(
      rewritten("class A: NSPersistentContainer { lazy var x = make(1) }").text.contains(
        "nonisolated(unsafe) lazy var x = make(1)"))
    #expect(
      rewritten("class A: NSPersistentContainer { lazy var x: Int! = 1 }").text.contains(
        "nonisolated(unsafe) lazy"))
    let own =
      "class A: NSPersistentContainer, @unchecked Sendable { nonisolated(unsafe) lazy var x = 1; @MainActor lazy var y = 1 }"
    #expect(rewritten(own).text.hasSuffix(own))
    // A class that says it crosses isolations may inherit from one of another target.
    let mock =
      "import CoreData\nclass A: JournalContainer, @unchecked Sendable { lazy var x: Int = 1; lazy var y = make() }"
    #expect(rewritten(mock).text.contains("var x: Int {"))
    #expect(rewritten(mock).text.contains("; lazy var y = make() }"))
    let plain = "import CoreData\nclass A: NSObject, @unchecked Sendable { lazy var x: Int = 1 }"
    #expect(!rewritten(plain).text.contains("_cdLazy"))
  }

  @Test("a public import of Core Data makes its types public, whose modules the file imports")
  func publicImports() {
    let index = { (text: String) in
      SourceRewriter(
        index: SourceIndex([SourceRewriter.Parsed(Array(text.utf8)).facts], importsMembers: true)
      )
      .rewrite(Array(text.utf8))
    }
    let text = { (source: String) in String(decoding: index(source).bytes, as: UTF8.self) }
    let rewritten = text("public import CoreData\n")
    #expect(rewritten.contains("; public import class CDEPredicates.TreeExpression;"))
    // Otherwise the compiler warns of an import that no public declaration needs.
    #expect(
      rewritten.contains(
        /; public typealias _CDImports_[0-9a-f]+ = \(CDECoreData\._CDLazyValue<Int>, CDEPredicates\./))
    #expect(text("import CoreData\n").contains("; import class CDEPredicates.TreeExpression;"))
    #expect(!text("import CoreData\n").contains("typealias"))
    #expect(
      text("package import CoreData\n").contains("; package import class CDEPredicates.TreeExpression;"))
  }

  @Test("the table lists other classes by the names that the Objective-C runtime would know")
  func namesOfOtherClasses() {
    let source =
      "import CoreData\n@objc(Policy) final class EntryPolicy: NSEntityMigrationPolicy {}\n@objc(Note) class Note: NSManagedObject {}"
    let table = SourceIndex([SourceRewriter.Parsed(Array(source.utf8)).facts]).classTable()
    #expect(table.contains("(\"Policy\", EntryPolicy.self)"))
    #expect(table.components(separatedBy: "Note.self)").count == 2)
  }

  @Test("a target that names OpenCombine gets the operators that it lacks")
  func combineOperators() {
    let table = { (name: String) in SourceIndex([], replacements: ["Combine": name]).classTable() }
    #expect(table("OpenCombine, OpenCombineFoundation").contains("struct CombineLatest4<"))
    #expect(table("OpenCombine").contains("func merge<"))
    #expect(!table("CombineX").contains("CombineLatest"))
    #expect(!SourceIndex([]).classTable().contains("Combine"))
  }

  @Test("key paths tell their keys to publishers, and where a key path asks itself")
  func keyPathsInOtherPlaces() {
    let text = rewritten(
      """
      import CoreData
      extension KeyPath { var string: String? { _kvcKeyPathString } }
      let keys = paths.map(\\._kvcKeyPathString)
      let a = book.publisher(for: \\.author?.name).sink { print($0) }
      class B: NSManagedObject { func f() { observe(\\.author?.name) { _, _ in } } }
      """
    ).text
    #expect(text.contains("String? { _cdKeyPathString }"))
    #expect(text.contains("map(\\._cdKeyPathString)"))
    #expect(text.contains("publisher(for: _cdNamed(\\.author?.name, \"author.name\"))"))
    #expect(text.contains("observe(_cdNamed(\\.author?.name, \"author.name\"))"))
  }

  @Test("key paths into values have no keys, and those of classes of other targets have the written ones")
  func keyPathsOfOtherTypes() {
    let text = rewritten(
      """
      class A: NSManagedObject { @NSManaged var name: String; @NSManaged var all: Set<A> }
      let a = (\\A.name.count)._kvcKeyPathString
      let b = \\A.all.count == 1
      let c = (\\Other.place?.name).begins(with: "x")
      let d = query.filter(\\.place?.name == "x")
      """
    ).text
    #expect(text.contains("(\\A.name.count)._cdKeyPathString"))
    #expect(text.contains("let b = \\A.all.count == 1"))
    #expect(text.contains("(_cdNamed(\\Other.place?.name, \"place.name\")).begins"))
    #expect(text.contains("filter(_cdNamed(\\.place?.name, \"place.name\") == \"x\")"))
  }

  @Test("a private class knows the keys of its own key paths")
  func keysOfPrivateClasses() {
    let text = rewritten(
      "import CoreData\n@objc(Planet) private final class Planet: NSManagedObject { @NSManaged var name: String; @NSManaged private var x: Int }"
    ).text
    #expect(text.contains("class Planet: NSManagedObject, _CDKeyPathNaming {"))
    #expect(text.contains("_cdKeys: [AnyKeyPath: String] = [\\Planet.name: \"name\"]"))
    #expect(!rewritten("class A: NSManagedObject { @NSManaged var name: String }").text.contains("_cdKeys"))
  }

  @Test("key paths tell their keys, over several properties too")
  func namedKeyPaths() {
    let text = rewritten(
      """
      class A: NSManagedObject { @NSManaged var name: String; @NSManaged var other: A? }
      let a = (\\A.name)._kvcKeyPathString
      let b = NSExpression(forKeyPath: \\A.other?.name)
      let c = \\A.other?.name == "x" && (\\A.other?.name).isLike("y") && names.map(\\A.other?.name).isEmpty
      """
    ).text
    #expect(text.contains("(\\A.name)._cdKeyPathString"))
    #expect(text.contains("forKeyPath: _cdNamed(\\A.other?.name, \"other.name\")"))
    #expect(text.contains("let c = _cdNamed(\\A.other?.name, \"other.name\") == \"x\""))
    #expect(
      text.contains("(_cdNamed(\\A.other?.name, \"other.name\")).isLike(\"y\") && names.map(\\A.other?.name)")
    )
  }

  @Test("a file that imports XCTest imports what its tests miss there")
  func testing() {
    #expect(rewritten("import XCTest").text == "import XCTest; import CDEXCTestPorting")
  }
}
