@_spi(CDE) import CDEManagedModel
import CDEModelFiles
import CDEPredicates
@_spi(CDE) import CDESQLiteFaults
import Foundation

/// Model files of all kinds, and one damage to one of them a round.
struct MutatedFiles {
  private var xmlText: [UInt8] = []
  private var xmlPieces = XMLPieces([])
  private var archives: [[UInt8]] = []
  private var frames: [BinaryListDamage] = []
  private var objects: [[PropertyListNode]] = []
  private var mappingText: [UInt8] = []
  private var mappingPieces = XMLPieces([])
  private var mappingArchive: [UInt8] = []
  private var mappingObjects: [PropertyListNode] = []
  private var expression: (bytes: [UInt8], text: String) = ([], "")
  private var list: [UInt8] = []
  private var marker: [UInt8] = []
  private var original = NSManagedObjectModel()
  private let folder = ProcessFolder.newURL("mutated")

  mutating func prepare() throws {
    xmlText = Array(xml(CompiledModelTests.everything))
    xmlPieces = XMLPieces(xmlText)
    original = try model(CompiledModelTests.everything)
    let compiled = try ModelCompiler.data(of: original)
    archives = try AppleArchives.all().map { Array($0) } + [Array(compiled)]
    objects = try AppleArchives.objects()
    if case .dictionary(let top)? = BinaryPropertyListReader.read(compiled),
      case .array(let own)? = top["$objects"]
    {
      objects.append(own)
    }
    let source = folder.appendingPathComponent("M.xcdatamodeld")
    try FileManager.default.createDirectory(
      at: source.appendingPathComponent("M.xcdatamodel"), withIntermediateDirectories: true)
    try Data(xmlText).write(to: source.appendingPathComponent("M.xcdatamodel/contents"))
    marker = Array(currentVersion("M.xcdatamodel"))
    try prepareMapping()
    try ModelCompiler.compile(source, to: compiledFolder)
    list = Array(try Data(contentsOf: compiledFolder.appendingPathComponent("VersionInfo.plist")))
    frames = (archives + [mappingArchive]).map(BinaryListDamage.init)
  }

  private mutating func prepareMapping() throws {
    let text = try MappingFixtures.xml()
    mappingText = Array(text.utf8)
    mappingPieces = XMLPieces(mappingText)
    let value = TreeExpression(format: "$source.text")
    expression = (
      Array(try PredicateArchives.data(of: value)), try MappingFixtures.expression("$source.text")
    )
    let mapping = try MappingFixtures.folder(text)
    let model = try NSMappingModel(
      mappingFile: mapping.appendingPathComponent("App/Mapping.xcmappingmodel"))
    mappingArchive = Array(try ModelCompiler.data(of: model))
    mappingObjects = try MappingArchives.objects(of: model)
    try FileManager.default.moveItem(
      at: mapping.appendingPathComponent("App"), to: folder.appendingPathComponent("App"))
    try FileManager.default.removeItem(at: mapping)
  }

  private var compiledFolder: URL { folder.appendingPathComponent("M.momd") }
  private var mappingFolder: URL { folder.appendingPathComponent("App/Mapping.xcmappingmodel") }

  func remove() throws { try FileManager.default.removeItem(at: folder) }

  // MARK: Rounds

  /// Whether the damaged model could be read.
  func round(_ random: inout RoundRandom) throws -> Bool {
    let kind = random.below(24)
    do {
      switch kind {
      case 0..<7: try readSource(&random)
      case 7..<12:
        let number = random.below(archives.count)
        let damaged =
          random.below(2) == 0
          ? ModelFileDamage.bytes(archives[number], &random) : frames[number].damaged(&random)
        try use(try NSManagedObjectModel(compiledModel: Data(damaged)), &random)
      case 12..<18:
        let archive = ModelFileDamage.graph(objects[random.below(objects.count)], &random)
        try use(try NSManagedObjectModel(compiledModel: archive), &random)
      case 18..<20: try readMappingSource(&random)
      case 20:
        let damaged =
          random.below(2) == 0
          ? ModelFileDamage.bytes(mappingArchive, &random) : frames[archives.count].damaged(&random)
        try use(try NSMappingModel(compiledMapping: Data(damaged)))
      case 21..<23:
        try use(try NSMappingModel(compiledMapping: ModelFileDamage.graph(mappingObjects, &random)))
      default: try readList(&random)
      }
      return true
    } catch let error as ModelFileError {
      check(error, kind)
      return false
    }
  }

  /// An error must say where: the file, and in a text the line as well.
  private func check(_ error: ModelFileError, _ kind: Int) {
    precondition(error.message.count > 20, "no message: \(error)")
    switch kind {
    case 0..<7: precondition(error.file == "contents" && error.line != nil, "no place: \(error)")
    case 18..<20:
      // The mapping model itself, or a model that it names.
      precondition(error.file.hasPrefix(folder.path), "no file: \(error)")
      precondition(error.line != nil || !error.file.hasSuffix("xcmapping.xml"), "no line: \(error)")
    case 23: precondition(error.file.hasPrefix(folder.path), "no file: \(error)")
    default: break
    }
  }

  private func readSource(_ random: inout RoundRandom) throws {
    let damaged =
      switch random.below(4) {
      case 0: ModelFileDamage.bytes(xmlText, &random)
      case 1: ModelFileDamage.words(xmlText, &random)
      default: xmlPieces.damaged(&random)
      }
    let source = try ModelSource(xml: Data(damaged), file: "contents")
    if random.below(4) == 0 {
      var generator = ClassGenerator(source)
      generator.selection = .all
      _ = try generator.files()
    }
    try use(try source.makeModel(module: "App"), &random)
  }

  private func readMappingSource(_ random: inout RoundRandom) throws {
    let damaged: [UInt8]
    switch random.below(4) {
    case 0: damaged = ModelFileDamage.bytes(mappingText, &random)
    case 1: damaged = ModelFileDamage.words(mappingText, &random)
    case 2: damaged = mappingPieces.damaged(&random)
    default:
      let frame = BinaryListDamage(expression.bytes)
      let archive =
        random.below(2) == 0 ? frame.damaged(&random) : ModelFileDamage.bytes(expression.bytes, &random)
      damaged = Array(
        String(decoding: mappingText, as: UTF8.self)
          .replacingOccurrences(of: expression.text, with: Data(archive).base64EncodedString()).utf8)
    }
    try Data(damaged).write(to: mappingFolder.appendingPathComponent("xcmapping.xml"))
    try use(try NSMappingModel(mappingFile: mappingFolder))
  }

  private func readList(_ random: inout RoundRandom) throws {
    let isSource = random.below(2) == 0
    let model = isSource ? folder.appendingPathComponent("M.xcdatamodeld") : compiledFolder
    let file = model.appendingPathComponent(isSource ? ".xccurrentversion" : "VersionInfo.plist")
    let damaged =
      switch random.below(3) {
      case 0 where isSource: XMLPieces(marker).damaged(&random)
      case 0: BinaryListDamage(list).damaged(&random)
      default: ModelFileDamage.bytes(isSource ? marker : list, &random)
      }
    try Data(damaged).write(to: file)
    try use(try NSManagedObjectModel(modelFile: model), &random)
  }

  // MARK: Use

  private func use(_ model: NSManagedObjectModel, _ random: inout RoundRandom) throws {
    switch random.below(6) {
    case 0: _ = (model.versionChecksum, ModelText.lines(model))
    case 1: do { _ = try ModelCompiler.data(of: model) } catch {}
    case 2:
      let copy = model.copy() as! NSManagedObjectModel
      do { _ = try copy.freeze() } catch is ModelError {}
    case 3:
      do {
        let mapping = try NSMappingModel.inferredMappingModel(
          forSourceModel: original, destinationModel: model)
        try use(mapping)
      } catch is MappingInferenceError {} catch is ModelError {}
    default: break
    }
  }

  private func use(_ mapping: NSMappingModel) throws {
    for entity in mapping.entityMappings {
      let properties = (entity.attributeMappings ?? []) + (entity.relationshipMappings ?? [])
      _ = (entity.sourceExpression?.description, properties.map { $0.valueExpression?.description })
    }
    do { _ = try ModelCompiler.data(of: mapping) } catch {}
  }
}
