/** Today's build beside the best one, which bench/best.json names: a part of `npm run test:nightly`. */
import { runAsCommand } from './run.js'

await runAsCommand('best', 'compareWithBest')
