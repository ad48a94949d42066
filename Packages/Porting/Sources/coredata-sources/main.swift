import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
do {
  try Command(arguments).run()
} catch let problem as Problem {
  FileHandle.standardError.write(Data("error: \(problem)\n".utf8))
  exit(1)
} catch {
  FileHandle.standardError.write(Data("error: \(error)\n".utf8))
  exit(1)
}
