import { TestRunner, type SerializedConfig } from 'vitest'

/** Runs the tests of each file in random order, by the seed of the run (vitest.config.ts). */
export default class ShuffledTests extends TestRunner {
  constructor(config: SerializedConfig) {
    super(config)
    config.sequence.shuffle = true
  }
}
