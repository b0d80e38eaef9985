import type { Course, Tab } from './course.ts'

/** Writes a few commands of a tab. */
export type Scene = (course: Course, tab: Tab) => void
