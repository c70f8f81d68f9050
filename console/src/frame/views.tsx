import type { ComponentType } from 'preact'
import { CompareView } from '../configs/compare-view.tsx'
import { BinView } from '../configs/bin-view.tsx'
import { HomeView } from '../home/home-view.tsx'
import { ListenedView } from '../configs/listened-view.tsx'
import { ConfigList } from '../configs/config-list.tsx'
import { ConfigView } from '../configs/config-view.tsx'
import { NewConfig } from '../configs/new-config.tsx'
import { later } from '../controls/later.tsx'
import type { IconName } from '../controls/icon.tsx'
import { laterView } from './later-view.tsx'
import { NoView } from './no-view.tsx'
import type { TextKey } from '../language/en.ts'
import { NamespacesView } from '../namespaces/namespaces-view.tsx'
import type { ViewPath } from '../routing/link.ts'
import { ServiceList } from '../services/service-list.tsx'
import { ServiceView } from '../services/service-view.tsx'

/** A view of the page. */
export interface View {
  readonly title: TextKey
  readonly Content: ComponentType
  /** The view of the navigation that it belongs to. */
  readonly below: ViewPath
  /** Whether it shows what is in a namespace. */
  readonly hasNamespace: boolean
}

const inNamespace = (title: TextKey, below: ViewPath, Content: ComponentType): View => ({
  title,
  Content,
  below,
  hasNamespace: true,
})
const ofServer = (title: TextKey, below: ViewPath, Content: ComponentType): View => ({
  title,
  Content,
  below,
  hasNamespace: false,
})

const GrayView = later(async () => (await import('../gray/gray-view.tsx')).GrayView)

/** Every view by its path. */
export const VIEWS: Readonly<Record<ViewPath, View>> = {
  home: ofServer('home', 'home', HomeView),
  compare: inNamespace('compare', 'compare', CompareView),
  configs: inNamespace('configs', 'configs', ConfigList),
  config: inNamespace('config', 'configs', ConfigView),
  'config/new': inNamespace('newConfig', 'configs', NewConfig),
  bin: inNamespace('bin', 'bin', BinView),
  gray: ofServer('gray', 'gray', GrayView),
  listened: ofServer('listened', 'listened', ListenedView),
  services: inNamespace('services', 'services', ServiceList),
  service: inNamespace('service', 'services', ServiceView),
  namespaces: ofServer('namespaces', 'namespaces', NamespacesView),
  users: ofServer('users', 'users', laterView('UsersView')),
  user: ofServer('user', 'users', laterView('UserView')),
  roles: ofServer('roles', 'roles', laterView('RolesView')),
  permissions: ofServer('permissions', 'permissions', laterView('PermissionsView')),
  audit: ofServer('audit', 'audit', laterView('AuditView')),
  servers: ofServer('servers', 'servers', laterView('ServersView')),
  clients: ofServer('clients', 'clients', laterView('ClientsView')),
  switches: ofServer('switches', 'switches', laterView('SwitchesView')),
}

/** The navigation: groups of views. `isManaged`: only for administrators who have signed in. */
export const NAVIGATION: readonly {
  readonly title: TextKey | undefined
  readonly forAdministrators?: boolean
  readonly views: readonly (readonly [ViewPath, IconName])[]
}[] = [
  {
    title: undefined,
    views: [
      ['home', 'home'],
      ['configs', 'config'],
      ['compare', 'compare'],
      ['bin', 'trash'],
      ['gray', 'gray'],
      ['listened', 'eye'],
      ['services', 'service'],
      ['namespaces', 'namespace'],
    ],
  },
  {
    title: 'accessControl',
    forAdministrators: true,
    views: [
      ['users', 'user'],
      ['roles', 'role'],
      ['permissions', 'key'],
    ],
  },
  {
    title: 'operation',
    forAdministrators: true,
    views: [
      ['audit', 'audit'],
      ['servers', 'server'],
      ['clients', 'client'],
      ['switches', 'switch'],
    ],
  },
]

/** The first page of a visit has no name, or the one by which the first administrator came. */
const FIRST = new Set(['', 'first-administrator'])
const NO_VIEW = ofServer('noView', 'home', NoView)

/** The view at a path. */
export function viewOf(path: string): View {
  if (FIRST.has(path)) return VIEWS.home
  return Object.hasOwn(VIEWS, path) ? VIEWS[path as ViewPath] : NO_VIEW
}
