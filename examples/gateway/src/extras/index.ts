// One line per extra. `name` is its name in EXTRAS. To remove an extra, delete its line and its folder.

export { reset } from './adaptive/extra.ts'
export { alerts } from './alerts/extra.ts'
export { pages } from './front-pages/extra.ts'
export { holds } from './holds/extra.ts'
export { overview } from './overview/extra.ts'
export { usage } from './own-usage/extra.ts'
export { pictures } from './pictures/extra.ts'
export { uploads } from './uploads/extra.ts'
export { why } from './why/extra.ts'
