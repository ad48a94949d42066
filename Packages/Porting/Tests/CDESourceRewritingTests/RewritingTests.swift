import CDESourceRewriting
import Foundation
import Testing

@Suite("Rewriting one file")
struct RewritingTests {
  /// The result of rewriting a file that is a whole target.
  private func rewritten(
    _ source: String, modules: Set<String> = SourceIndex.allModules
  ) -> (text: String, messages: [String]) {
    let file = SourceRewriter.Parsed(Array(source.utf8))
    let result = SourceRewriter(index: SourceIndex([file.facts], modules: modules)).rewrite(file)
    return (String(decoding: result.bytes, as: UTF8.self), result.messages.map { $0.printed(file: "F") })
  }

  @Test("an @NSManaged variable gets accessors and loses its attributes")
  func managedVariable() {
    let text = rewritten("class A: NSManagedObject {\n  @objc @NSManaged public var title: String?\n}").text
    #expect(
      text.contains(
        "  public var title: String? { get { _cdGet(_CDName(\"title\", 0xda31296c0c1b6029), as: (String?).self) }"
      ))
    #expect(!text.contains("@"))
  }

  @Test("functions that check one value are called by the names of their properties, from extensions too")
  func validation() {
    let text = rewritten(
      """
      class A: NSManagedObject {
        @objc func validateTitle(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}
        func validateText(_ value: String) throws {}
        override func validateForInsert() throws {}
      }
      extension A {
        @objc func validateRank(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}
        private func validateHidden(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}
      }
      """
    ).text
    #expect(
      text.contains(
        "_cdValidatedKeys: [String] { super._cdValidatedKeys + [\"title\", \"Title\", \"rank\", \"Rank\"] }"),
      "\(text)")
    #expect(
      text.contains("case \"title\", \"Title\": try validateTitle(value); case \"rank\", \"Rank\": try "))
    #expect(!rewritten("class A: NSManagedObject { @NSManaged var a: Int }").text.contains("_cdValid"))
  }

  @Test("members that name the keys that affect a key are called by that key, from extensions too")
  func affectingKeys() {
    let text = rewritten(
      """
      class A: NSManagedObject {
        @objc class func keyPathsForValuesAffectingFullName() -> Set<String> { ["first", "last"] }
        @objc static var keyPathsForValuesAffectingURL: Set<String> { ["path"] }
        override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }
        class func keyPathsForValuesAffectingMore() -> [String] { [] }
        func keyPathsForValuesAffectingNothing() -> Set<String> { [] }
      }
      extension A {
        @objc class func keyPathsForValuesAffectingRank() -> Set<String> { ["stars"] }
        private class func keyPathsForValuesAffectingHidden() -> Set<String> { [] }
      }
      class B: A {
        override class func keyPathsForValuesAffectingFullName() -> Set<String> { ["last"] }
      }
      """
    ).text
    let functions = text.split(separator: "\n").filter { $0.contains("_cdKeyPathsAffecting") }
    #expect(functions.count == 1, "A function that overrides another one is called by it.")
    #expect(
      text.contains(
        "switch key { case \"fullName\", \"FullName\": return keyPathsForValuesAffectingFullName(); "
          + "case \"uRL\", \"URL\": return keyPathsForValuesAffectingURL; "
          + "case \"rank\", \"Rank\": return keyPathsForValuesAffectingRank(); default: return super."),
      "\(text)")
  }

  @Test("a key path over several properties that is observed gets its keys")
  func observedPaths() {
    let text = rewritten(
      """
      import CoreData
      class A: NSManagedObject { @NSManaged @objc(parent) var owner: A?; @NSManaged var name: String }
      let one = a.observe(\\.owner?.name, options: .new) { _, _ in }
      let two = a.observe(\\A.owner!.owner?.name) { _, _ in }
      let three = a.observe(\\.name) { _, _ in }
      let four = a.observe(\\.list[0].name) { _, _ in }
      let five = b.observe(what, \\.owner?.name)
      """
    ).text.split(separator: "\n").map(String.init)
    #expect(
      text[2] == "let one = a.observe(_cdNamed(\\.owner?.name, \"owner.name\"), options: .new) { _, _ in }")
    #expect(
      text[3] == "let two = a.observe(_cdNamed(\\A.owner!.owner?.name, \"parent.parent.name\")) { _, _ in }")
    #expect(text[4...].allSatisfy { !$0.contains("_cdNamed") })
  }

  @Test(
    "a call of NSManagedObject(entity:insertInto:) makes an object of the entity's class; one of a subclass or of super is left",
    arguments: [
      (
        "a = NSManagedObject(entity: e, insertInto: nil)",
        "a = NSManagedObject._cdMade(entity: e, insertInto: nil)"
      ),
      (
        "a = NSManagedObject.init(entity: e, insertInto: c)",
        "a = NSManagedObject._cdMade(entity: e, insertInto: c)"
      ),
      (
        "a = CoreData.NSManagedObject(entity: e, insertInto: c)",
        "a = CDECoreData.NSManagedObject._cdMade(entity: e, insertInto: c)"
      ),
      ("a = Book(entity: e, insertInto: c)", "a = Book(entity: e, insertInto: c)"),
      ("a = NSManagedObject(context: c)", "a = NSManagedObject(context: c)"),
      ("super.init(entity: e, insertInto: c)", "super.init(entity: e, insertInto: c)"),
      (
        "override init(entity: NSEntityDescription, insertInto: NSManagedObjectContext?) {",
        "override init(entity: NSEntityDescription, insertInto: NSManagedObjectContext?) {"
      ),
    ])
  func madeObjects(_ source: String, _ result: String) {
    #expect(rewritten("import CoreData\n\(source)").text.hasSuffix("\n\(result)"))
  }

  @Test("several variables of one declaration get a declaration each")
  func severalVariables() {
    let text = rewritten("class A: NSManagedObject { @NSManaged var a, b: Int }").text
    #expect(text.contains("var a: Int { get"))
    #expect(text.contains("}; var b: Int { get"))
  }

  @Test("a primitive variable reaches the primitive value")
  func primitiveVariable() {
    let text = rewritten("class A: NSManagedObject { @NSManaged var primitiveTitle: String? }").text
    #expect(text.contains("_cdPrimitiveValue(\"Title\", as: (String?).self)"))
  }

  @Test(
    "functions for to-many relationships get bodies",
    arguments: [
      ("@objc(addItemsObject:) @NSManaged func addToItems(_ v: Item)", "{ _cdAdd(\"Items\", v) }"),
      ("@NSManaged func addToItems(_ v: Item)", "{ _cdAdd(\"Items\", v) }"),
      ("@NSManaged func removeItems(_ v: NSSet)", "{ _cdRemove(\"Items\", v) }"),
      ("@NSManaged func insertIntoItems(_ v: Item, at i: Int)", "{ _cdInsert(\"Items\", v, at: i) }"),
      ("@NSManaged func removeFromItems(at i: Int)", "{ _cdRemove(\"Items\", at: i) }"),
      (
        "@objc(replaceItemsAtIndexes:withItems:) @NSManaged func replaceItems(at i: NSIndexSet, with v: [Item])",
        "{ _cdReplace(\"Items\", at: i, with: v) }"
      ),
      (
        "@objc(insertObject:inItemsAtIndex:) @NSManaged func insertIntoItems(_ v: Item, at i: Int)",
        "{ _cdInsert(\"Items\", v, at: i) }"
      ),
    ])
  func managedFunctions(_ source: String, _ body: String) {
    #expect(rewritten("extension A { \(source) }").text.contains(body))
  }

  @Test("an @NSManaged function of another form is an error that names the forms")
  func unknownFunction() {
    #expect(
      rewritten("extension A { @NSManaged func explode() }").messages == [
        "F:1:15: error: Core Data has no accessor named explode. Functions with @NSManaged are addToItems(_:), "
          + "removeFromItems(_:), insertIntoItems(_:at:), removeFromItems(at:) and replaceItems(at:with:) for a "
          + "relationship items."
      ])
  }

  @Test("a class that overrides what key-value observing calls conforms to a protocol instead")
  func observers() {
    let function =
      "override func observeValue(forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?, "
      + "context: UnsafeMutableRawPointer?) {}"
    let text = rewritten("class A: NSObject { \(function) }\nclass B: A { \(function) }").text
    #expect(text.hasPrefix("import CDECoreData; class A: NSObject, _CDKeyValueObserver { func observeValue"))
    #expect(text.contains("class B: A { override func observeValue"), "Its parent has the function.")
    let other = "class C: NSObject { override func observeValue(_ key: String) {} }"
    #expect(rewritten(other).text == other)
  }

  @Test("#keyPath becomes a string, with the names that @objc gives")
  func keyPaths() {
    let source = """
      class A: NSManagedObject { @objc(name) @NSManaged var title: String; @NSManaged var b: B? }
      class B: NSManagedObject { @NSManaged var items: Set<A>; func f() { print(#keyPath(items.title)) } }
      let x = [#keyPath(A.title), #keyPath(A.b.items.title), "\\(#keyPath(B.items)) == %@", #keyPath(Other.z)]
      """
    let (text, messages) = rewritten(source)
    #expect(text.contains("print(\"items.name\")"))
    #expect(text.contains("[\"name\", \"b.items.name\", \"\\(\"items\") == %@\", \"z\"]"))
    #expect(messages.isEmpty)
  }

  @Test("#keyPath to a property that the class lacks is an error with its properties")
  func unknownKeyPath() {
    let source = "class A: NSManagedObject { @NSManaged var title: String }\nlet x = #keyPath(A.titel)"
    #expect(
      rewritten(source).messages == [
        "F:2:9: error: #keyPath: the class A has no property titel. Its properties are title."
      ])
  }

  @Test("#selector carries the function, with the class around it")
  func selectors() {
    let source =
      "class A { func f() { g(#selector(saved(_:)), #selector(B.left), #selector(NSString.compare(_:))) } }"
    #expect(
      rewritten(source).text.contains(
        "g(Selector(\"saved:\", A.saved(_:)), Selector(\"left\", B.left), Selector(\"compare:\"))"))
  }

  @Test(
    "the main bundle without its type is looked up where its surroundings say that it is a bundle",
    arguments: [
      "func f(in bundle: Bundle = .main) {}", "let a: Bundle = .main", "f(bundle: .main)", "f(from: [.main])",
      "var b: Bundle { .main }", "var b: Bundle { get { return .main } }",
      "func f() -> Bundle? { return .main }",
      "let a = bundle ?? .main", "self.modelBundle = .main", "let all: [Bundle] = [.main]",
      "f(Foundation.Bundle.main)",
    ])
  func mainBundle(_ source: String) {
    #expect(
      rewritten(source).text == "import CDECoreData; " + source.replacing(".main", with: "._cdMain()"))
  }

  @Test(
    "another main value stays",
    arguments: [
      "f(on: .main)", "let q: DispatchQueue = .main", "queue = .main",
      "func f(_ q: OperationQueue = .main) {}",
      "func f() -> Bundle { g(in: .main) }",
    ])
  func otherMain(_ source: String) { #expect(rewritten(source).text == source) }

  @Test("a subclass of a request says again that it is sendable")
  func sendable() {
    let text = rewritten("final class R<T: P>: NSFetchRequest<T> {}\nclass N: NSObject {}").text
    #expect(
      text
        == "import CDECoreData; final class R<T: P>: NSFetchRequest<T>, @unchecked Sendable {}\nclass N: NSObject {}"
    )
  }

  @Test(
    "#selector of an object's function carries it, and its class is the object's",
    arguments: [
      ("#selector(type(of: self).saved(_:))", #"Selector("saved:", A.saved(_:))"#),
      ("#selector(self.saved(_:))", #"Selector("saved:", A.saved(_:))"#),
      ("#selector(other.saved(_:))", #"Selector("saved:", of: other) { $0.saved(_:) }"#),
    ])
  func objectSelectors(_ source: String, _ result: String) {
    #expect(rewritten("class A { func f() { g(\(source)) } }").text.contains("g(\(result))"))
  }

  @Test("casts between fetch requests become calls of an operator")
  func casts() {
    let text = rewritten("let a = x as! NSFetchRequest<A>, b = x as? NSFetchRequest<A>, c = x as! A").text
    #expect(text.contains("a = x ~!> NSFetchRequest<A>.self, b = x ~?> NSFetchRequest<A>.self, c = x as! A"))
  }

  @Test("kinds of file protection are cast by their names, and URLs of resources are URLs")
  func bridging() {
    let text = rewritten(
      "let a = FileProtectionType.complete as NSObject, b = bundle.urls(forResourcesWithExtension: \"mom\", subdirectory: nil)"
    ).text
    #expect(
      text.contains("a = FileProtectionType.complete.rawValue as NSObject, b = bundle._cdURLs(forResources"))
  }

  @Test("imports and qualified names lead to the module of this package")
  func imports() {
    let source = """
      @preconcurrency import CoreData
      import class CoreData.NSManagedObject
      #if canImport(CoreData)
      typealias M = CoreData.NSManagedObjectModel
      #endif
      let e: NSExpression = NSExpression(forKeyPath: "a")
      """
    #expect(
      rewritten(source).text == """
        @preconcurrency import CDECoreData
        import class CDECoreData.NSManagedObject
        #if canImport(CDECoreData)
        typealias M = CDECoreData.NSManagedObjectModel
        #endif
        let e: CDECoreData.NSExpression = CDECoreData.NSExpression(forKeyPath: "a")
        """)
  }

  @Test("sources for SwiftData lead to this package's module, if their target depends on it")
  func swiftData() {
    let source = """
      @_exported import SwiftData
      import class SwiftData.ModelContext
      #if canImport(SwiftData)
      @SwiftData.Model final class A { var context: SwiftData.ModelContext? = nil }
      #endif
      let b = Bundle(for: A.self)
      let c: NSExpression = NSExpression(format: "1")
      """
    let rest = "let b = Bundle(for: A.self)\nlet c: NSExpression = NSExpression(format: \"1\")"
    #expect(
      rewritten(source, modules: ["CDESwiftData"]).text == """
        @_exported import CDESwiftData
        import class CDESwiftData.ModelContext
        #if canImport(CDESwiftData)
        @CDESwiftData.Model final class A { var context: CDESwiftData.ModelContext? = nil }
        #endif
        \(rest)
        """)
    #expect(rewritten(source).text.contains("Bundle._cdPorted(for: A.self)"))
    let without = rewritten(source, modules: ["CDECoreData"])
    #expect(
      without.messages.first
        == "F:1:1: error: There is no SwiftData on Linux. Add the product CDESwiftData of CoreDataEvolution to the dependencies of "
        + "the target. The import of SwiftData then becomes one of CDESwiftData.")
    #expect(without.text.contains("#if canImport(SwiftData)\n@SwiftData.Model"))
    #expect(
      rewritten("#if canImport(SwiftData)\nimport SwiftData\n#endif", modules: ["CDECoreData"]).messages == []
    )
  }

  @Test("a file that names Core Data's types without importing it imports the replacement")
  func namesWithoutImport() {
    let text = rewritten("@testable import Lib\nimport XCTest\nfunc f(_ object: NSManagedObject) {}").text
    #expect(text.contains("import CDECoreData"))
    #expect(!rewritten("import XCTest\nfunc f(_ object: NSObject) {}").text.contains("CDECoreData"))
    #expect(
      !rewritten("import XCTest\nfunc f(_ object: NSManagedObject) {}", modules: ["CDESwiftData"]).text
        .contains("CDECoreData"))
  }

  @Test("code that clients compile imports what it uses from the modules that declare it")
  func inlinable() {
    let text = rewritten(
      "public import CoreData\n@inlinable public func f() -> NSExpression { NSExpression(forKeyPath: \"a\") }"
    ).text
    #expect(
      text.hasPrefix(
        "public import CDECoreData; public import class CDEPredicates.TreeExpression; public import class CDEPredicates."
      ))
    #expect(text.split(separator: "\n").count == 2)
  }

  @Test("names that Foundation has on Apple's platforms alone lead to this package")
  func foundationNames() {
    let text = rewritten(
      "import Foundation\nfinal class T: Foundation.ValueTransformer {}\nFoundation.ValueTransformer.valueTransformerNames()"
    ).text
    #expect(text.contains("class T: CDECoreData.ValueTransformer {}"))
    #expect(text.contains("\nCDECoreData.ValueTransformer.valueTransformerNames()"))
    #expect(text.hasPrefix("import Foundation; import CDECoreData\n"))
  }

  @Test("an import of an absent framework is an error, unless it is not compiled here")
  func absentFrameworks() {
    let messages = rewritten(
      "#if canImport(UIKit)\nimport UIKit\n#elseif os(macOS)\nimport AppKit\n#endif\nimport Combine"
    ).messages
    #expect(messages.count == 1)
    #expect(messages[0].hasPrefix("F:6:1: error: There is no Combine on Linux. "))
  }

  @Test(
    "a protocol of Objective-C is for classes, and its optional requirements have default implementations")
  func protocols() {
    let source = """
      @objc public protocol D: NSObjectProtocol { @objc optional func done(_ a: A) ; @objc optional func name() -> String? }
      @objc protocol E { func e() }
      func f(_ d: D?) { d?.done?(a); d?.other?(1) }
      """
    let text = rewritten(source).text
    #expect(
      text.contains("public protocol D: NSObjectProtocol { func done(_ a: A) ; func name() -> String? }"))
    #expect(
      text.contains("}; extension D { public func done(_ a: A) {  }; public func name() -> String? { nil } }")
    )
    #expect(text.contains("protocol E: AnyObject {"))
    #expect(text.contains("d?.done(a); d?.other?(1)"))
  }

  @Test("each line stays on its line")
  func lines() {
    let source = """
      import CoreData
      @objc(
        Thing
      )
      class A: NSManagedObject {
        @NSManaged
        // A comment.
        public var a: Int,
          b: String?
        @objc(addItemsObject:)
        @NSManaged public func addToItems(_ v: A)
      }
      let here = #line
      """
    let text = rewritten(source).text
    #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count == 13)
    #expect(text.hasSuffix("let here = #line"))
  }

  @Test("a damaged file is taken as far as it goes")
  func damagedFiles() {
    for source in [
      "@objc(", "class A: NSManagedObject { @NSManaged var", "#keyPath(", "@NSManaged var x", "import", ")))",
    ] {
      _ = rewritten(source)
    }
  }

  @Test("a file without a construct of Core Data is not affected")
  func unaffected() {
    #expect(!SourceRewriter.isAffected(Array("import Foundation\nstruct A { var b: Int? }\nf?(1)".utf8)))
    #expect(SourceRewriter.isAffected(Array("import  Combine".utf8)))
  }
}
