import type { ConfigName } from '../server/configs.ts'
import { currentNamespace } from '../state/namespaces.ts'
import { linkTo } from '../routing/link.ts'
import { namespaceParam } from '../state/namespaces.ts'

/** The item that the parameters of a place name. */
export const configNameIn = (params: Readonly<Record<string, string>>): ConfigName => ({
  tenant: currentNamespace(),
  group: params['group'] ?? '',
  dataId: params['dataId'] ?? '',
})

/** The address of an item. */
export const linkToConfig = ({ tenant, group, dataId }: ConfigName): string =>
  linkTo('config', { ns: namespaceParam(tenant), group, dataId })
