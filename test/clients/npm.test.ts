import { describeClient, PUSH_CHECKS } from './client-program.ts'
import { IN_NODE } from './prepared-program.ts'

describeClient(
  {
    ...IN_NODE,
    folder: 'npm',
    run: (address, scratch) => ['node', 'program.js', address, scratch],
  },
  [
    ...PUSH_CHECKS,
    'config: the shared client sees an item appear',
    'naming: a subscriber sees a silent instance fall ill and leave',
    'naming: the server is UP',
  ],
)
