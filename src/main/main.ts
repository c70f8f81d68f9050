#!/usr/bin/env node
import { runProgram } from '../command/command-line.ts'
import { makeProgram } from './program.ts'
import { startServer } from '../server/start-server.ts'

/** The commands know the second port of the store, and accounts; the stores are joined here, on demand. */
const program = makeProgram({
  startServer,
  directoryTools: async () => (await import('../store/embedded/directory-tools.ts')).embeddedDirectoryTools,
  storeCopies: async () => (await import('../server/offline/store-copies.ts')).storeCopies,
  storedAccounts: async () => (await import('../server/offline/stored-accounts.ts')).withStoredAccounts,
})

process.exit(await runProgram(program, process.argv.slice(2)))
