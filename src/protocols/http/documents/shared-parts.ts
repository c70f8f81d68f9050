/** A part of an OpenAPI document. */
export type Json = Record<string, unknown>

/** The fields of `components` that hold parts of operations. */
type Kind = 'schemas' | 'parameters' | 'requestBodies' | 'responses'

/** A place in the document that may hold a reference instead of its part. */
export interface PlaceOfPart {
  /** The name of the part in the document. Different parts of one name get a number behind it. */
  readonly name: string
  readonly part: Json
  readonly replace: (reference: Json) => void
}

/** The parts that occur at several places of a document: `components` has each once, and the places refer to it. */
export class SharedParts {
  readonly components: Record<Kind, Json>

  constructor(schemas: Json) {
    this.components = { schemas: { ...schemas }, parameters: {}, requestBodies: {}, responses: {} }
  }

  /** Replaces each part that is in two places or more. */
  share(kind: Kind, places: readonly PlaceOfPart[]): void {
    const byText = new Map<string, PlaceOfPart[]>()
    for (const place of places) {
      const text = JSON.stringify(place.part)
      const same = byText.get(text)
      if (same === undefined) byText.set(text, [place])
      else same.push(place)
    }
    for (const same of byText.values()) if (same.length > 1) this.#move(kind, same)
  }

  #move(kind: Kind, same: readonly PlaceOfPart[]): void {
    const { name, part } = same[0]!
    const parts = this.components[kind]
    let key = name
    for (let number = 2; key in parts; number++) key = `${name}${number}`
    parts[key] = part
    for (const { replace } of same) replace({ $ref: `#/components/${kind}/${key}` })
  }
}
