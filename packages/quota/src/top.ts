/**
 * Who spends and who is refused most, in bounded memory.
 *
 * @module
 */
export type { TopSubjectsOptions } from './top/options.ts'
export { type TopSubject, type TopSubjects, topSubjects } from './top/top-subjects.ts'
