import { drawn } from './icons.ts'

/** Pictures that what is loaded after the view has alone. */
export const searchIcon = drawn('search', 'M11 4a7 7 0 1 0 0 14 7 7 0 1 0 0-14M16.2 16.2L20.5 20.5')
export const pinIcon = drawn('pin', 'M9 4h6l-.7 6.5L17.5 14h-11l3.2-3.5zM12 14v6.5')
export const stepIcon = drawn('step', 'M14.5 6.5a4 4 0 0 0-5 5L4 17l3 3 5.5-5.5a4 4 0 0 0 5-5L15 12l-3-3z')
export const expandIcon = drawn('expand', 'M7 10l5 5 5-5')
