@_spi(CDE) import CDEManagedModel
import CDEModelFiles
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Model files of every kind, damaged at random: bytes of the files, words of the XML, and the references and
/// values of the archives.
///
/// Whatever they then hold, reading them, using the model and compiling it again ends in a model or a typed
/// error, soon, and never in the end of the process or in much memory.
@Suite("Mutated models")
struct MutatedModelTests {
  /// 100,000 is the long run.
  private static let rounds =
    ProcessInfo.processInfo.environment["CDE_MUTATED_MODELS"].flatMap(Int.init) ?? 2000
  private static let seed =
    ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? 1
  private static let groupSize = 5000

  @Test("Damaged model files are read, used and compiled without ending the process")
  func mutations() async throws {
    let log = ProcessFolder.newURL("log")
    defer { try? FileManager.default.removeItem(at: log) }
    for first in stride(from: 0, to: Self.rounds, by: Self.groupSize) {
      let last = min(first + Self.groupSize, Self.rounds)
      let result = await #expect(processExitsWith: .success) {
        [seed = Self.seed as UInt64, first = first as Int, last = last as Int, log = log.path as String] in
        // The backtrace of a trap comes from the process itself, and goes where it says its errors.
        dup2(open(log, O_WRONLY | O_CREAT | O_TRUNC, 0o600), 2)
        try MutatedModelTests.run(seed, first, last)
      }
      if result == nil {
        let text = String(decoding: try Data(contentsOf: log), as: UTF8.self)
        Issue.record("CDE_SEED=\(Self.seed), the last round begun of: \(text.prefix(12_000))")
      }
    }
  }

  private static func run(_ seed: UInt64, _ first: Int, _ last: Int) throws {
    var files = MutatedFiles()
    try files.prepare()
    let before = residentPeak()
    var loaded = 0
    for round in first..<last {
      // The log holds the last round only.
      ftruncate(2, 0)
      lseek(2, 0, SEEK_SET)
      FileHandle.standardError.write(Data("round \(round)\n".utf8))
      var random = RoundRandom(state: seed &+ UInt64(round) &* 0x9E37_79B9_7F4A_7C15)
      let start = ContinuousClock.now
      if try files.round(&random) { loaded += 1 }
      let time = ContinuousClock.now - start
      precondition(time < .seconds(10), "round \(round) took \(time)")
    }
    try files.remove()
    precondition(loaded > (last - first) / 20, "only \(loaded) of \(last - first) damaged models were read")
    let growth = residentPeak() - before
    precondition(growth < 100_000, "the memory grew by \(growth) kB")
  }

  /// The most memory that the process has had, in kilobytes.
  private static func residentPeak() -> Int {
    var usage = rusage()
    // The number of RUSAGE_SELF, whose type differs between C libraries.
    getrusage(0, &usage)
    return usage.ru_maxrss
  }
}

private struct RoundRandom: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<max(1, bound), using: &self) }
}

/// The files, and one damage to one of them a round.
private struct MutatedFiles {
  private var xmlText: [UInt8] = []
  private var archives: [[UInt8]] = []
  private var objects: [[PropertyListNode]] = []
  private var mappingText: [UInt8] = []
  private var mappingArchive: [UInt8] = []
  private var mappingObjects: [PropertyListNode] = []
  private var list: [UInt8] = []
  private var marker: [UInt8] = []
  private let folder = ProcessFolder.newURL("mutated")

  mutating func prepare() throws {
    xmlText = Array(xml(CompiledModelTests.everything))
    let compiled = try ModelCompiler.data(of: try model(CompiledModelTests.everything))
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
    mappingText = Array(try MappingFixtures.xml().utf8)
    let mapping = try MappingFixtures.folder(try MappingFixtures.xml())
    let model = try NSMappingModel(
      mappingFile: mapping.appendingPathComponent("App/Mapping.xcmappingmodel"))
    mappingArchive = Array(try ModelCompiler.data(of: model))
    mappingObjects = try MappingArchives.objects(of: model)
    try FileManager.default.moveItem(
      at: mapping.appendingPathComponent("App"), to: folder.appendingPathComponent("App"))
    try FileManager.default.removeItem(at: mapping)
    try ModelCompiler.compile(source, to: compiledFolder)
    list = Array(try Data(contentsOf: compiledFolder.appendingPathComponent("VersionInfo.plist")))
  }

  private var compiledFolder: URL { folder.appendingPathComponent("M.momd") }

  func remove() throws { try FileManager.default.removeItem(at: folder) }

  /// Whether the damaged model could be read.
  func round(_ random: inout RoundRandom) throws -> Bool {
    do {
      switch random.below(24) {
      case 0..<7:
        let damaged = random.below(2) == 0 ? bytes(xmlText, &random) : words(xmlText, &random)
        let source = try ModelSource(xml: Data(damaged), file: "contents")
        try use(try source.makeModel(module: "App"), &random)
      case 7..<12:
        let archive = archives[random.below(archives.count)]
        try use(try NSManagedObjectModel(compiledModel: Data(bytes(archive, &random))), &random)
      case 12..<19:
        let archive = graph(objects[random.below(objects.count)], &random)
        try use(try NSManagedObjectModel(compiledModel: archive), &random)
      case 19:
        let file = folder.appendingPathComponent("App/Mapping.xcmappingmodel")
        let damaged = random.below(2) == 0 ? bytes(mappingText, &random) : words(mappingText, &random)
        try Data(damaged).write(to: file.appendingPathComponent("xcmapping.xml"))
        try use(try NSMappingModel(mappingFile: file))
      case 20: try use(try NSMappingModel(compiledMapping: Data(bytes(mappingArchive, &random))))
      case 21..<23: try use(try NSMappingModel(compiledMapping: graph(mappingObjects, &random)))
      default:
        let isSource = random.below(2) == 0
        let model = isSource ? folder.appendingPathComponent("M.xcdatamodeld") : compiledFolder
        let file = model.appendingPathComponent(isSource ? ".xccurrentversion" : "VersionInfo.plist")
        try Data(bytes(isSource ? marker : list, &random)).write(to: file)
        try use(try NSManagedObjectModel(modelFile: model), &random)
      }
      return true
    } catch is ModelFileError {
      return false
    }
  }

  private func use(_ model: NSManagedObjectModel, _ random: inout RoundRandom) throws {
    switch random.below(4) {
    case 0: _ = (model.versionChecksum, ModelText.lines(model))
    case 1: do { _ = try ModelCompiler.data(of: model) } catch {}
    case 2:
      let copy = model.copy() as! NSManagedObjectModel
      do { _ = try copy.freeze() } catch is ModelError {}
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

  // MARK: Damage

  private func bytes(_ original: [UInt8], _ random: inout RoundRandom) -> [UInt8] {
    var result = original
    for _ in 0...random.below(4) {
      guard !result.isEmpty else { return result }
      let place = random.below(result.count)
      switch random.below(7) {
      case 0: result[place] ^= 1 << UInt8(random.below(8))
      case 1: result[place] = UInt8(random.below(256))
      case 2: result.removeSubrange(place..<min(result.count, place + 1 + random.below(20)))
      case 3:
        result.insert(contentsOf: (0...random.below(6)).map { _ in UInt8(random.below(256)) }, at: place)
      case 4:
        result.insert(contentsOf: result[place..<min(result.count, place + random.below(200))], at: place)
      case 5: if random.below(4) == 0 { result.removeSubrange(place...) }
      default:
        let end = min(result.count, place + 8)
        for index in place..<end { result[index] = [0, 0xFF, 0x7F, 0x80][random.below(4)] }
      }
    }
    return result
  }

  private static let odd = [
    "", "-1", "0", "9999999999999999999999", "NaN", "inf", "1e308", "YES", "Item", "Base", "Owner", "Inner",
    "Place", "str", "parts", "self", "$x", "\u{e9}", "e\u{301}", "\u{1F600}", "a.b", "@count", "(((((((",
    "TRUEPREDICATE", "SELF", "count:(", "Integer 16", "Composite", "Transformable", "Date", ".", "..", "/",
    "2147483648", "&#65;", "name",
  ]

  /// Replaces values in quotes by other values of the file or odd ones, and moves whole lines.
  private func words(_ original: [UInt8], _ random: inout RoundRandom) -> [UInt8] {
    var parts = String(decoding: original, as: UTF8.self).split(
      separator: "\"", omittingEmptySubsequences: false
    ).map(String.init)
    for _ in 0...random.below(4) {
      let place = random.below(parts.count / 2) * 2 + 1
      switch random.below(4) {
      case 0: parts[place] = Self.odd[random.below(Self.odd.count)]
      case 1: parts[place] = parts[random.below(parts.count / 2) * 2 + 1]
      case 2: parts[place] += Self.odd[random.below(Self.odd.count)]
      default:
        let other = random.below(parts.count / 2) * 2
        parts.swapAt(place - 1, other)
      }
    }
    return Array(parts.joined(separator: "\"").utf8)
  }

  /// An archive that is a good property list, with other values and references in its objects.
  private func graph(_ original: [PropertyListNode], _ random: inout RoundRandom) -> Data {
    var objects = original
    for _ in 0...random.below(4) {
      let place = random.below(objects.count)
      switch objects[place] {
      case .dictionary(var fields):
        let keys = fields.keys.sorted()
        let key = keys[random.below(keys.count)]
        switch random.below(4) {
        case 0: fields[key] = nil
        case 1: fields[key] = value(objects, &random)
        case 2:
          if case .array(var members)? = fields[key], !members.isEmpty {
            members[random.below(members.count)] = .reference(random.below(objects.count + 2))
            if random.below(3) == 0 { members += members }
            fields[key] = .array(members)
          }
        default: fields[key] = .reference(random.below(objects.count + 2))
        }
        objects[place] = .dictionary(fields)
      default: objects[place] = value(objects, &random)
      }
    }
    return BinaryPropertyListWriter.data(
      .dictionary(["$top": .dictionary(["root": .reference(1)]), "$objects": .array(objects)]))
  }

  private func value(_ objects: [PropertyListNode], _ random: inout RoundRandom) -> PropertyListNode {
    switch random.below(9) {
    case 0: .null
    case 1: .bool(random.below(2) == 0)
    case 2: .integer([0, 1, -1, 2100, 1800, .max, .min, 65536, Int64(Int32.max) + 1][random.below(9)])
    case 3: .real([0, .nan, .infinity, -1.5, 1e300][random.below(5)])
    case 4: .date(.nan)
    case 5: .data(Data(repeating: 0xFF, count: random.below(20)))
    case 6: .string(Self.odd[random.below(Self.odd.count)])
    case 7: .reference(random.below(objects.count))
    default: objects[random.below(objects.count)]
    }
  }
}
