import { describeClient, ENDPOINT_CHECKS, PUSH_CHECKS } from './client-program.ts'
import { IN_GO } from './prepared-program.ts'

describeClient(
  {
    ...IN_GO,
    folder: 'go',
    run: (address, scratch) => ['./program', address, scratch],
  },
  [
    ...PUSH_CHECKS,
    ...ENDPOINT_CHECKS,
    'config: a search finds items',
    'naming: an instance is modified',
    'naming: a subscriber of one cluster is pushed that cluster',
    'naming: beats bring back an instance that was lost',
    'naming: the services of a group are listed',
  ],
)
