/** Dubbo 3 says so where it has read no item. It is no md5. */
const NO_ITEM = '0'

/** The `casMd5` of clients of Nacos as operations take it: empty where there must be no item. */
export function casOfClients(casMd5: string | undefined): string | undefined {
  return casMd5 === NO_ITEM ? '' : casMd5
}
