/** `npm run build`: bundles src and the console into dist, whichever changed, on the locked dependencies. */
import { build, ensureInstalled } from './prepare.js'

await ensureInstalled()
if (!(await build())) process.exitCode = 1
