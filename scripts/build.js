/** `npm run build`: bundles src into dist where it changed. */
import { build } from './prepare.js'

await build()
