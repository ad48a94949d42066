import CDESwiftData
import Testing

enum Theme: String, Codable { case light, dark, system }

@Model
final class AppSettings {
  let createdAt: Date = Date(timeIntervalSinceReferenceDate: 0)
  private(set) var launches = 0
  private var themeName: String?
  @Attribute(.ephemeral) var selection: String?
  @Transient var isDirty = false { didSet { changes += isDirty != oldValue ? 1 : 0 } }
  @Transient var changes = 0
  var window: CGSize = CGSize(width: 800, height: 600)
  var languages: Set<String> = ["en"]
  var shortcuts: [String: Int] = [:]
  static let key = "settings"

  var theme: Theme {
    get { themeName.flatMap(Theme.init(rawValue:)) ?? .system }
    set { themeName = newValue.rawValue }
  }

  init() {}

  static func instance(in context: ModelContext) throws -> AppSettings {
    if let found = try context.fetch(FetchDescriptor<AppSettings>()).first { return found }
    let made = AppSettings()
    context.insert(made)
    return made
  }

  func launch() {
    launches += 1
    isDirty = true
  }
}

@Suite("Settings, of which there is one")
struct SettingsProgram {
  @Test("Settings keep what is stored and forget what is transient")
  func settings() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let configuration = ModelConfiguration("Settings", url: folder.appending(path: "Settings.store"))
    for round in 1...3 {
      let context = ModelContext(try ModelContainer(for: AppSettings.self, configurations: configuration))
      let settings = try AppSettings.instance(in: context)
      #expect(settings.launches == round - 1)
      #expect(!settings.isDirty && settings.changes == 0)
      #expect(settings.theme == (round == 1 ? .system : .dark))
      #expect(settings.shortcuts["n"] == (round == 1 ? nil : round - 1))
      settings.launch()
      #expect(settings.changes == 1)
      settings.theme = .dark
      settings.window.width += 10
      settings.languages.insert("l\(round)")
      settings.shortcuts["n"] = round
      try context.save()
    }
    let context = ModelContext(try ModelContainer(for: AppSettings.self, configurations: configuration))
    let settings = try AppSettings.instance(in: context)
    #expect(settings.window == CGSize(width: 830, height: 600))
    #expect(settings.languages == ["en", "l1", "l2", "l3"])
    #expect(try context.fetchCount(FetchDescriptor<AppSettings>()) == 1)
  }
}
