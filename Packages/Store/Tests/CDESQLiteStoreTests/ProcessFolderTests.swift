@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

@Suite("The folder of a process's test files")
struct ProcessFolderTests {
  private static func run(_ mark: URL, dies: Bool) {
    let file = ProcessFolder.newURL()
    try! Data().write(to: file)
    try! Data(ProcessFolder.url.path.utf8).write(to: mark)
    if dies { kill(getpid(), SIGKILL) }
    exit(0)
  }

  private func folder(in mark: URL) throws -> String { try String(contentsOf: mark, encoding: .utf8) }

  @Test("It goes with the process, and what a process left that died goes with the next one")
  func removal() async throws {
    let (dead, ended) = (ProcessFolder.newURL("dead"), ProcessFolder.newURL("ended"))
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = dead.path as String] in
      ProcessFolderTests.run(URL(fileURLWithPath: path), dies: true)
    }
    await #expect(processExitsWith: .success) { [path = ended.path as String] in
      ProcessFolderTests.run(URL(fileURLWithPath: path), dies: false)
    }
    #expect(try folder(in: dead) != folder(in: ended))
    #expect(try !FileManager.default.fileExists(atPath: folder(in: ended)))
    #expect(try !FileManager.default.fileExists(atPath: folder(in: dead)))
    #expect(FileManager.default.fileExists(atPath: ProcessFolder.url.path))
  }
}
