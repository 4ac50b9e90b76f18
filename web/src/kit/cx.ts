import { type ClassValue, clsx } from "clsx";
import { twMerge } from "tailwind-merge";

export const cx = (...parts: ClassValue[]) => twMerge(clsx(parts));
