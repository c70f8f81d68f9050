/** How many instances of each cluster a service has. Nearly all services have one cluster, which takes no Map. */
export class ClusterSizes {
  #first = ''
  #sizeOfFirst = 0
  #others: Map<string, number> | undefined

  /** How many clusters have instances. */
  get size(): number {
    return Number(this.#sizeOfFirst > 0) + (this.#others?.size ?? 0)
  }

  has(cluster: string): boolean {
    return (this.#sizeOfFirst > 0 && cluster === this.#first) || this.#others?.has(cluster) === true
  }

  /** The clusters that have instances, sorted. */
  names(): string[] {
    const others = this.#others === undefined ? [] : [...this.#others.keys()]
    return this.#sizeOfFirst > 0 ? [this.#first, ...others].sort() : others
  }

  /** Counts one more instance of a cluster. */
  add(cluster: string): void {
    const others = this.#others?.get(cluster)
    if (others !== undefined) this.#others!.set(cluster, others + 1)
    else if (this.#sizeOfFirst === 0 || cluster === this.#first) {
      this.#first = cluster
      this.#sizeOfFirst++
    } else {
      this.#others ??= new Map()
      this.#others.set(cluster, 1)
    }
  }

  /** Counts one less; there must be one. */
  remove(cluster: string): void {
    const others = this.#others?.get(cluster)
    if (others === undefined) {
      this.#sizeOfFirst--
      if (this.#sizeOfFirst === 0) this.#nextIsFirst()
    } else if (others > 1) this.#others!.set(cluster, others - 1)
    else this.#others!.delete(cluster)
  }

  #nextIsFirst(): void {
    for (const [cluster, size] of this.#others ?? []) {
      this.#first = cluster
      this.#sizeOfFirst = size
      this.#others!.delete(cluster)
      return
    }
  }
}
