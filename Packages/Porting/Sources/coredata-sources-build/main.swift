import CDESourceTool

// What the plug-in CoreDataSources calls. A program of its own, because the package manager compiles what a plug-in calls once more,
// and people's commands need the whole runtime.

let usage = """
  Usage: coredata-sources-build <command>

  compile <model> <output>
      Compiles an .xcdatamodeld, an .xcdatamodel or an .xcmappingmodel.
  build --module <name> --state <file> --table <file> [--uses <module>]... [--replaces <module> <module>]... [--main-actor] [--member-imports]
        [--settings <file> <its text>] [--model <model> <output>]... [--file <source> <output>]...
      What the plug-in CoreDataSources calls: rewrites the files that changed since the last call. --uses names a
      replacement of one of Apple's modules that the target depends on, or none; without it the target depends on all.
      --replaces names a module of Apple's platforms and another with its interface; --main-actor says that the
      target's declarations are isolated to the main actor by default; --member-imports, that members are visible only
      where their own module is imported.
  """

runCommandLine { arguments in
  let rest = Array(arguments.dropFirst())
  switch arguments.first {
  case "build": try BuildCommand(rest, usage: usage).run()
  case "compile": try CompileCommand(rest, usage: usage).run()
  case let other: throw Problem("\(other.map { "There is no command \($0)." } ?? "Which command?")\n\(usage)")
  }
}
