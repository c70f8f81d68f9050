import { createHash } from 'node:crypto'
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest, and mostly wait: they start first, so that the others run beside them. */
const FIRST =
  /\/test\/(?:clients\/(?:grpc|http)\/stage|interface\/(?:every-operation-memory|start-size|switch-effects)|store-contract\/embedded)\.test\.ts$/

/**
 * The order of the test files. Files that share a thread come in random order, by the seed of the run: none may depend on what
 * another has left. All others come as vitest sorts them, after those files that mostly wait.
 */
export class ShuffledFiles extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const shuffled = sorted
      .filter(sharesThread)
      .map((file) => ({ file, place: this.#placeOf(file) }))
      .toSorted((a, b) => (a.place < b.place ? -1 : 1))
    const mixed = sorted.map((file) => (sharesThread(file) ? shuffled.shift()!.file : file))
    return mixed.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)))
  }

  #placeOf({ moduleId }: TestSpecification): string {
    const { root, sequence } = this.ctx.config
    return createHash('sha1')
      .update(`${sequence.seed} ${relative(root, moduleId)}`)
      .digest('hex')
  }
}

function isFirst({ moduleId }: TestSpecification): boolean {
  return FIRST.test(moduleId)
}

function sharesThread({ project }: TestSpecification): boolean {
  return !project.config.isolate
}
