import { DamagedStore } from '../../local-file.ts'

/** A sealed value was changed, or moved to another key. */
export class BrokenSeal extends DamagedStore {
  override readonly name = 'BrokenSeal'
}
