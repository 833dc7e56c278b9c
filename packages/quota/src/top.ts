/**
 * The subjects that spend the most and are refused the most, in bounded memory.
 *
 * @module
 */
export { type TopSubject, type TopSubjects, type TopSubjectsOptions, topSubjects } from './top/top-subjects.ts'
