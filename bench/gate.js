/** The part of the bench that is short and stable enough for every change. It fails on a clear regression. */
import { runAsCommand } from './run.js'

await runAsCommand('gate', 'gate')
