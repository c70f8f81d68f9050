import { boolean } from './kinds.ts'
import { DAY, durationSetting, integerSetting, MINUTE, SECOND, type Definition } from './setting.ts'

/** Settings for tests and for `waypost dev`, left out of help, manual and reference. A later version may drop them without notice. */
export const undocumentedDefinitions = {
  historyCleanIntervalMs: durationSetting('history-clean-interval', {
    default: 10 * MINUTE,
    min: SECOND,
    max: 7 * DAY,
    meaning: 'How often expired history is removed, in small steps.',
  }),
  maxHeaders: integerSetting('max-headers', {
    default: 200,
    min: 20,
    max: 10_000,
    meaning: 'The most header fields of one request.',
  }),
  maxParameters: integerSetting('max-parameters', {
    default: 1000,
    min: 20,
    max: 100_000,
    meaning: 'The most parameters of one request, query and form body together.',
  }),
  maxJsonDepth: integerSetting('max-json-depth', {
    default: 32,
    min: 2,
    max: 1_000,
    meaning: 'The deepest nesting of a JSON parameter: metadata, beat, instances, selector and the like.',
  }),
  temporary: {
    name: 'temporary',
    kind: boolean(),
    default: false as boolean,
    shownDefault: 'false',
    meaning: 'The data go when the server ends: the console offers a sample.',
  },
  nodeStreams: {
    name: 'node-streams',
    kind: boolean(),
    default: false as boolean,
    shownDefault: 'false',
    meaning: 'Send all answers through Node.js streams, which costs a fifth of the requests per second.',
  },
} satisfies Readonly<Record<string, Definition<unknown>>>
