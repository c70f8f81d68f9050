/** What people need in the first minutes and seldom later, in one file that is loaded on demand: files of their own would split the first view. */
export { ConnectDialog } from '../connect/connect-dialog.tsx'
export { FirstAdministrator } from '../sign-in/first-administrator.tsx'
export { OwnPassword } from '../sign-in/own-password.tsx'
export { SampleCard } from './sample-card.tsx'
