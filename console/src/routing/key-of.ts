import type { ConfigName } from '../server/configs.ts'
import { linkTo } from './link.ts'
import { currentNamespace, namespaceParam } from '../state/namespaces.ts'

/** The item that the parameters of a place name. */
export const configNameIn = (params: Readonly<Record<string, string>>): ConfigName => ({
  tenant: currentNamespace(),
  group: params['group'] ?? '',
  dataId: params['dataId'] ?? '',
})

/** The address of a change of an item, where its difference and the way back are shown. */
export const linkToChange = ({ tenant, group, dataId }: ConfigName, atMs: number): string =>
  linkTo('config', { ns: namespaceParam(tenant), group, dataId, tab: 'versions', at: String(atMs) })

/** The address of an item, or of a part of its view. */
export const linkToConfig = (
  { tenant, group, dataId }: ConfigName,
  tab = '',
  more: Readonly<Record<string, string>> = {},
): string => linkTo('config', { ns: namespaceParam(tenant), group, dataId, tab, ...more })

/** The address of the edit of an item. */
export const linkToEdit = ({ tenant, group, dataId }: ConfigName): string =>
  linkTo('config', { ns: namespaceParam(tenant), group, dataId, edit: 'yes' })
