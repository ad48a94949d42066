import CDESourceTool

runCommandLine { try Command($0).run() }
