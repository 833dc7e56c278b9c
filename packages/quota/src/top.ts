/**
 * Who spends and who is refused most, in bounded memory.
 *
 * @module
 */
export { type TopSubject, type TopSubjects, type TopSubjectsOptions, topSubjects } from './top/top-subjects.ts'
