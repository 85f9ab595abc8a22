/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of PNG and JPEG files, with a folder in it for each class, as data sets in memory. */
#ifndef IMAGE_FOLDER_H
#define IMAGE_FOLDER_H

#include <stdint.h>

#include <tarn.h>

#include "picture.h"

struct image_folder_options {
    const char *path;
    int size; /* of the squares that all pictures become */
    enum picture_fit fit;
    double test_share; /* of each class, unless the folder has train/ and test/ */
};

/* One data set: uint8 [n, 3, size, size], and the numbers of their classes. */
struct image_set {
    unsigned char *pixels;
    int32_t *labels, count;
    tarn_dataset *set;
};

struct image_folder {
    char **classes; /* names, sorted */
    int class_count;
    struct image_set train, test;
    float means[3], deviations[3]; /* of the training set's channels, from 0 to 1 */
};

/* Reads all files whose names end in .png, .jpg or .jpeg; names that begin with a dot do not count. Which of
 * them are for tests depends on the names of files alone. False with one line that names the file or folder;
 * image_folder_close() is needed even then. */
bool image_folder_open(const struct image_folder_options *options, struct image_folder *out,
                       char *problem, size_t capacity);
void image_folder_close(struct image_folder *f);

#endif
