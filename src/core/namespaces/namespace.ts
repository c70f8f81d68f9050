/** A listed namespace. Unlisted ones work as well: the list is for people. */
export interface Namespace {
  readonly id: string
  readonly showName: string
  readonly desc: string
}
