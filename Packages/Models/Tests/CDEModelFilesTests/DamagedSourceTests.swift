@_spi(CDE) import CDEManagedModel
import CDEModelFiles
import Foundation
import Testing

@Suite("Damaged model files")
struct DamagedSourceTests {
  private func error(_ text: String) -> ModelFileError? {
    fileError { _ = try ModelSource(xml: Data(text.utf8), file: "M/contents").makeModel() }
  }

  @Test(
    "XML that is none is refused with its line",
    arguments: [
      ("", 1), ("<model>", 1), ("<model>\n<entity name='E'></model>", 2), ("<model/><model/>", 1),
      ("<model>\n\n<entity name=E/></model>", 3), ("<model a='1' a='2'/>", 1), ("<model><!-- </model>", 1),
      ("<model>&</model>", 1), ("<model>\n<entity name='&unknown;'/></model>", 2), ("text", 1),
      ("<model a='<'/>", 1), ("<model a/>", 1), ("</model>", 1), ("<model><![CDATA[</model>", 1),
      ("<model><?pi </model>", 1), ("<model a='1'b='2'/>", 1), ("<model>&#0;</model>", 1),
      ("<model>&#xD800;</model>", 1), ("<model><a\u{0}b/></model>", 1), ("<model", 1), ("<model a='", 1),
    ])
  func syntax(text: String, line: Int) {
    let error = error(text)
    #expect(error?.code == .damaged)
    #expect(error?.line == line)
    #expect(error?.file == "M/contents")
  }

  @Test("Entities of the file's own, and other files, are refused before anything is expanded")
  func documentTypes() {
    let bomb = """
      <!DOCTYPE model [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>
      <model><entity name="&b;"/></model>
      """
    #expect(error(bomb)?.element == "!DOCTYPE")
    let external = "<!DOCTYPE model SYSTEM \"file:///etc/passwd\"><model/>"
    #expect(error(external)?.code == .damaged)
    #expect(error("<model>\n<!DOCTYPE model></model>")?.line == 2)
  }

  @Test("A list of versions may have Apple's document type, and no other declarations")
  func propertyLists() throws {
    func folder(_ list: String) throws -> URL {
      try CDEModelFilesTests.folder([
        "M.xcdatamodeld/M.xcdatamodel/contents": xml(""), "M.xcdatamodeld/.xccurrentversion": Data(list.utf8),
      ]).appendingPathComponent("M.xcdatamodeld")
    }
    let name = "<dict><key>_XCCurrentVersionName</key><string>M.xcdatamodel</string></dict>"
    let good = try folder("<!DOCTYPE plist PUBLIC '-//Apple//DTD' \"http://x\"><plist>\(name)</plist>")
    #expect(try ModelSourceFolder(good).currentVersion == "M")
    let bad = try folder("<!DOCTYPE plist [<!ENTITY a 'b'>]><plist>\(name)</plist>")
    #expect(fileError { _ = try ModelSourceFolder(bad) }?.element == "!DOCTYPE")
    #expect(fileError { _ = try ModelSourceFolder(try folder("<plist><dict><key/></dict></plist>")) } != nil)
    #expect(fileError { _ = try ModelSourceFolder(try folder("<plist>")) } != nil)
    #expect(
      fileError { _ = try ModelSourceFolder(try folder(name)) }?.code == .unsupportedFormat)
  }

  @Test("Other encodings and formats are refused by name")
  func formats() throws {
    func code(_ data: Data) -> ModelFileError.Code? {
      fileError { _ = try ModelSource(xml: data, file: "") }?.code
    }
    #expect(code(Data([0xFF, 0xFE, 0x3C, 0])) == .unsupportedFormat)
    #expect(code(Data("<model name=\"".utf8 + [0xC3, 0x28] + "\"/>".utf8)) == .damaged)
    #expect(code(Data("<database/>".utf8)) == .unsupportedFormat)
    #expect(code(Data([0xEF, 0xBB, 0xBF] + "<model/>".utf8)) == nil, "a byte order mark of UTF-8")
    let old = try folder(["Old.xcdatamodel/elements": Data("bplist00".utf8)])
    let error = fileError { _ = try ModelSource(contentsOf: old.appendingPathComponent("Old.xcdatamodel")) }
    #expect(error?.code == .unsupportedFormat)
    #expect(error?.message.contains("Xcode 3") == true)
  }

  @Test("Depth, width and expansion have limits")
  func limits() {
    let deep = String(repeating: "<a>", count: 100_000)
    #expect(error("<model>\(deep)")?.code == .tooLarge)
    let wide = (0..<1000).map { " a\($0)=''" }.joined()
    #expect(error("<model\(wide)/>")?.code == .tooLarge)
    var bomb = "<composite name=\"C0\"><attribute name=\"a\" attributeType=\"String\"/></composite>"
    for level in 1...12 {
      let attributes = (0..<10).map {
        "<attribute name=\"a\($0)\" attributeType=\"Composite\" composite=\"C\(level - 1)\"/>"
      }
      bomb += "<composite name=\"C\(level)\">\(attributes.joined())</composite>"
    }
    let use =
      "<entity name=\"E\"><attribute name=\"a\" attributeType=\"Composite\" composite=\"C12\"/></entity>"
    #expect(error("<model>\(bomb)\(use)</model>")?.code == .tooLarge)
    let own =
      "<composite name=\"C12\"><attribute name=\"a\" attributeType=\"Composite\" composite=\"C12\"/></composite>"
    #expect(error("<model>\(own)\(use)</model>")?.code == .tooLarge)
  }

  @Test(
    "Models that contradict themselves are refused with the element and the line",
    arguments: [
      "<entity/>", "<entity name=''/>", "<entity name='A'/><entity name='A'/>",
      "<entity name='A' parentEntity='B'/>", "<entity name='A' parentEntity='A'/>",
      "<entity name='A' parentEntity='B'/><entity name='B' parentEntity='A'/>",
      "<entity name='A'><attribute/></entity>",
      "<entity name='A'><attribute name='a'/><relationship name='a' destinationEntity='A'/></entity>",
      "<entity name='A'><relationship name='r'/></entity>",
      "<entity name='A'><relationship name='r' destinationEntity='B'/></entity>",
      "<entity name='A'><attribute name='c' attributeType='Composite' composite='C'/></entity>",
      "<fetchRequest name='f' entity='B'/>", "<fetchRequest name='f'/>",
      "<configuration name='c'><memberEntity name='B'/></configuration>",
      "<entity name='A'><fetchIndex name='i'><fetchIndexElement type='Binary'/></fetchIndex></entity>",
      "<composite name='C'><attribute name='a'/><attribute name='a'/></composite>",
    ])
  func contradictions(body: String) {
    let error = error("<model>\n\(body)</model>")
    #expect(error?.code == .invalidModel)
    #expect(error?.line == 2)
    #expect(error?.element != nil)
  }

  @Test("An inverse that the destination does not have is named by a warning")
  func inverses() throws {
    func warnings(_ inverse: String) throws -> [String] {
      let text = """
        <model>
        <entity name='Note'>
          <relationship name='tags' destinationEntity='Label' inverseName='\(inverse)' inverseEntity='Label'/>
        </entity>
        <entity name='Label' parentEntity='Tag'/>
        <entity name='Tag'><relationship name='notes' destinationEntity='Note' inverseName='tags' inverseEntity='Note'/></entity>
        </model>
        """
      let source = try ModelSource(xml: Data(text.utf8), file: "M/contents")
      let model = try source.makeModel()
      let tags = model.entitiesByName["Note"]?.relationshipsByName["tags"]
      #expect((tags?.inverseRelationship == nil) == !source.warnings.isEmpty)
      return source.warnings.map { "\($0.line) \($0.text)" }
    }
    #expect(
      try warnings("nots") == [
        "3 The relationship Note.tags names the inverse nots, and Label has no such relationship. It has no inverse. Correct the name."
      ])
    #expect(try warnings("notes").isEmpty)
    #expect(try ModelSource(xml: Data(Self.circle.utf8), file: "").warnings.count == 1)
  }

  @Test("Defaults, bounds and patterns that are none are named by warnings, and those of other types are not")
  func texts() throws {
    let text = """
      <model><entity name='A'>
        <attribute name='count' attributeType='Integer 16' defaultValueString='70000' minValueString='many'/>
        <attribute name='flag' attributeType='Boolean' defaultValueString='maybe'/>
        <attribute name='code' attributeType='String' regularExpressionString='[A-' maxValueString='long'/>
        <attribute name='id' attributeType='UUID' defaultValueString='1'/>
        <attribute name='fine' attributeType='Decimal' defaultValueString='0.50' minValueString='-1' maxValueString='1e3'/>
        <attribute name='text' attributeType='String' defaultValueString='x' minValueString='1' regularExpressionString='[a-z]+'/>
        <attribute name='at' attributeType='Date' defaultValueString='now'/>
        <attribute name='bytes' attributeType='Binary' defaultValueString='x'/>
        <attribute name='yes' attributeType='Boolean' defaultValueString='YES'/>
      </entity></model>
      """
    let source = try ModelSource(xml: Data(text.utf8), file: "M/contents")
    #expect(
      source.warnings.map { "\($0.line) \($0.text)" } == [
        "2 A.count has the default value “70000”, which is no Integer 16, so it has none. Correct or remove it.",
        "2 A.count has the minimum “many”, which is no number, so it has none. Correct or remove it.",
        "3 A.flag has the default value “maybe”, which is no Boolean, so it has none. Correct or remove it.",
        "4 A.code has the maximum “long”, which is no number, so it has none. Correct or remove it.",
        "4 A.code has the regular expression “[A-”, which can't be read, so no text is valid. Correct or remove it.",
        "5 A.id has the default value “1”, which is no UUID, so it has none. Correct or remove it.",
      ])
    _ = try source.makeModel()
  }

  private static let circle = """
    <model><entity name='A' parentEntity='B'><relationship name='r' destinationEntity='B' inverseName='s'/></entity>
    <entity name='B' parentEntity='A'/></model>
    """

  @Test(
    "Unknown elements are left out with a warning, wherever they are; what the editor keeps for itself is not"
  )
  func unknownElements() throws {
    let text = """
      <model><elements><element name="A"/></elements><userInfo/>
      <nonsense name='x'/>
      <entity name='A'><attribute name='a' attributeType='String'>
      <hint><inner/></hint></attribute>
      <composite name='c'/>
      <fetchIndex name='i'><userInfo/><fetchIndexElement property='a'/><odd/></fetchIndex>
      <userInfo><entry key='k' value='v'/></userInfo></entity>
      <configuration name='C'><memberEntity name='A'/>
      <memberEntities/></configuration>
      <fetchRequest name='f' entity='A'><sort/></fetchRequest></model>
      """
    let source = try ModelSource(xml: Data(text.utf8), file: "M/contents")
    #expect(
      source.warnings.map { "\($0.file):\($0.line) \($0.text)" } == [
        "M/contents:2 The model has an element <nonsense>, which is unknown there. It is left out.",
        "M/contents:4 The attribute a has an element <hint>, which is unknown there. It is left out.",
        "M/contents:5 The entity A has an element <composite>, which is unknown there. It is left out.",
        "M/contents:6 The index i has an element <odd>, which is unknown there. It is left out.",
        "M/contents:9 The configuration C has an element <memberEntities>, which is unknown there. It is left out.",
        "M/contents:10 The fetch request f has an element <sort>, which is unknown there. It is left out.",
      ])
    let made = try source.makeModel()
    #expect(made.entitiesByName["A"]?.attributesByName.keys.sorted() == ["a"])
    let remarks = try made.freeze().remarks
    #expect(remarks.count == 6 && remarks[0].hasPrefix("M/contents:2: The model has an element <nonsense>,"))
    let model = try folder(["M.xcdatamodeld/M.xcdatamodel/contents": Data(text.utf8)])
      .appendingPathComponent("M.xcdatamodeld")
    #expect(try ModelCompiler.warnings(about: model).map(\.line) == [2, 4, 5, 6, 9, 10])
  }

  @Test("A chain of parents without end is refused")
  func chain() {
    let entities = (0..<5000).map { "<entity name='E\($0)' parentEntity='E\($0 + 1)'/>" }.joined()
    #expect(error("<model>\(entities)<entity name='E5000'/></model>")?.code == .invalidModel)
  }
}
