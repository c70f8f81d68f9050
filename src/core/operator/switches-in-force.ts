import { DEFAULT_SWITCHES, type SwitchPatch, type Switches } from './switches.ts'

/** The switches that are kept, and over them those that were set for this server alone. */
export class SwitchesInForce {
  #kept: Switches = DEFAULT_SWITCHES
  #local: SwitchPatch = {}
  #current: Switches = DEFAULT_SWITCHES

  /** What holds now; a new object after each `set`. */
  get current(): Switches {
    return this.#current
  }

  /** `localOnly`: until this server restarts. Keeping a switch ends what was set for it here alone. */
  set(patch: SwitchPatch, localOnly: boolean): void {
    if (localOnly) this.#local = { ...this.#local, ...patch }
    else {
      this.#kept = { ...this.#kept, ...patch }
      this.#local = without(this.#local, patch)
    }
    this.#current = Object.freeze({ ...this.#kept, ...this.#local })
  }
}

function without(patch: SwitchPatch, others: SwitchPatch): SwitchPatch {
  const left = Object.entries(patch).filter(([name]) => !Object.hasOwn(others, name))
  return Object.fromEntries(left) as SwitchPatch
}
