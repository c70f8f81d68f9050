/** `npm run build`: compiles src to dist where it changed. */
import { build } from './prepare.js'

await build()
