import { createHash } from 'node:crypto'
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The order of the test files. Files that share a thread come in random order, by the seed of the run: none may depend on what
 * another has left. All others come as vitest sorts them, the slowest first.
 */
export class ShuffledFiles extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const shuffled = sorted
      .filter(sharesThread)
      .map((file) => ({ file, place: this.#placeOf(file) }))
      .toSorted((a, b) => (a.place < b.place ? -1 : 1))
    return sorted.map((file) => (sharesThread(file) ? shuffled.shift()!.file : file))
  }

  #placeOf({ moduleId }: TestSpecification): string {
    const { root, sequence } = this.ctx.config
    return createHash('sha1')
      .update(`${sequence.seed} ${relative(root, moduleId)}`)
      .digest('hex')
  }
}

function sharesThread({ project }: TestSpecification): boolean {
  return !project.config.isolate
}
