import { isSecretKey } from './secret-keys.ts'
import { secretsInLine, secretsInSource } from './secret-texts.ts'
import type { DeclaredValue, Range } from './tree.ts'
import { referencesIn } from './xml-declarations.ts'

/**
 * The parts of declared values that are secret: by the name, by a secret in the value, or because something covered refers to it.
 * A reader puts the value in place of the reference.
 */
export function secretDeclarations(
  text: string,
  values: readonly DeclaredValue[],
  covered: readonly Range[],
): Range[] {
  const found: Range[] = []
  const left = new Set(values)
  const textOf = ({ from, to }: Range): string => text.slice(from, to)
  const open = covered.map(textOf)
  const cover = (value: DeclaredValue): void => {
    if (!left.delete(value)) return
    found.push(value)
    open.push(textOf(value))
  }
  for (const value of values) {
    if (isSecretKey(value.name)) cover(value)
    for (const { from, to } of secretsInSource('xml', textOf(value), secretsInLine)) {
      const range = { from: value.from + from, to: value.from + to }
      found.push(range)
      open.push(textOf(range))
    }
  }
  const entities = entitiesOf(values)
  const parameters = values.filter(({ kind }) => kind === 'parameter')
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const { name } of referencesIn(next))
      // Another name may be declared within a parameter entity.
      if (name !== '') for (const value of entities.get(name) ?? parameters.splice(0)) cover(value)
  return found
}

/** Entities by name; only the first one of a name counts, and any may be secret. */
function entitiesOf(values: readonly DeclaredValue[]): Map<string, DeclaredValue[]> {
  const found = new Map<string, DeclaredValue[]>()
  for (const value of values) {
    if (value.kind !== 'entity') continue
    const same = found.get(value.name)
    if (same === undefined) found.set(value.name, [value])
    else same.push(value)
  }
  return found
}
