/** The views that most users do not have: they are loaded apart from the first view. */
export { PermissionsView } from '../access/permissions-view.tsx'
export { RolesView } from '../access/roles-view.tsx'
export { UserView } from '../access/user-view.tsx'
export { UsersView } from '../access/users-view.tsx'
export { AuditView } from '../audit/audit-view.tsx'
export { ClientsView } from '../operator/clients-view.tsx'
export { ServersView } from '../operator/servers-view.tsx'
export { SwitchesView } from '../operator/switches-view.tsx'
