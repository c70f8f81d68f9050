import type { Command, Decision } from '../decisions/decision.ts'
import type { Now } from '../decisions/stamps.ts'
import type { View } from '../decisions/view.ts'

/** A command around another one, for engines that look at decisions. An object for each command, without a copy of its fields. */
export class WrappedCommand<T> implements Command<T> {
  readonly subject: string
  readonly growsBy: number | undefined
  readonly takesNames: boolean
  readonly #command: Command<T>

  constructor(command: Command<T>) {
    this.subject = command.subject
    this.growsBy = command.growsBy
    this.takesNames = command.takesNames === true
    this.#command = command
  }

  surelySyncs(view: View): boolean {
    return this.#command.surelySyncs?.(view) === true
  }

  stamps(view: View): number {
    return this.#command.stamps?.(view) ?? 1
  }

  decide(view: View, now: Now): Decision<T> {
    return this.#command.decide(view, now)
  }
}
