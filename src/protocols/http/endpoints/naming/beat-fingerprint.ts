import { hash } from 'node:crypto'

/**
 * Stands for a request target word for word, in 20 characters: the targets of all instances would take more memory
 * than all else that is known of them. SHA-1 is the fastest of node's digests; that two texts of one author may
 * collide does no harm, and nobody can make one that is taken for another's.
 */
export function fingerprintOf(target: string): string {
  return hash('sha1', target, 'binary')
}
