// One line per extra. You can remove a line together with its folder.
export { alerts } from './alerts/extra.ts'
export { history } from './history/extra.ts'
export { holds } from './holds/extra.ts'
export { overview } from './overview/extra.ts'
export { reset } from './reset/extra.ts'
export { why } from './why/extra.ts'
